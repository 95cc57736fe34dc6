import { afterEach, describe, expect, it } from "vitest";
import { anonymous } from "../../src/surface/caller.ts";
import { cellSource, defineSurface, mcp, operationRegistry, type ViewRules } from "../../src/index.ts";
import type { HandledMethod } from "../../src/mcp/handlers.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { createTestClient } from "../../src/testing/index.ts";

const words = "what this operation does, at length. ".repeat(8);

function rulesThatHide(disallow: readonly string[]): ViewRules {
  return [
    { id: "hub", when: { surface: "hub" }, verdict: { kind: "tool_surface", face: "gateway", disallow } },
    {
      id: "narrow",
      when: { surface: "narrow" },
      verdict: { kind: "tool_surface", face: "gateway", disallow: ["ops.secret.*"] },
    },
    { id: "other", when: { surface: "other" }, verdict: { kind: "tool_surface", disallow: ["ops.secret.*"] } },
    { id: "direct", when: { surface: "direct" }, verdict: { kind: "tool_surface" } },
  ];
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function open() {
  const registry = operationRegistry();
  for (let index = 0; index < 40; index += 1) {
    const name = `${index % 2 === 0 ? "secret" : "plain"}.op${index}`;
    registry.register({ name, type: "query", description: words }, () => ({ name, text: words.repeat(40) }));
  }
  const rules = cellSource<ViewRules>(rulesThatHide([]));
  const app = mcp(defineSurface("tools", {}), { maxResultBytes: 4096 })
    .implement({})
    .mount("ops", registry)
    .pull()
    .views(rules);
  const client = createTestClient(app);
  closing.push(() => client.close());
  return {
    rules,
    register: (name: string) => void registry.register({ name }, () => ({})),
    /** What the client is answered by a view; an error as its message. */
    ask: (surface: string, method: HandledMethod, params: JsonObject): Promise<string> => {
      const caller = { ...anonymous, view: { surface } };
      return client.request(method, params, { caller }).then(
        (result) => JSON.stringify(result),
        (cause: unknown) => String(cause),
      );
    },
  };
}

type Opened = ReturnType<typeof open>;

/** The URI of the second part of an answer. */
function nextOf(answer: string): string {
  const [uri] = /surface:\/\/tools\/_parts\/[0-9a-f]{32}\/2/.exec(answer) ?? [];
  if (uri === undefined) throw new TypeError(`no next part in ${answer}`);
  return uri;
}

async function read({ ask }: Opened, surface: string, uri: string): Promise<string> {
  return (await ask(surface, "resources/read", { uri })).replaceAll(uri, "URI");
}

async function expectGone(opened: Opened, surface: string, uri: string): Promise<void> {
  const never = uri.replace(/[0-9a-f]{32}/, "0".repeat(32));
  expect(await read(opened, surface, uri)).toBe(await read(opened, surface, never));
  const byTool = (of: string) => opened.ask(surface, "tools/call", { name: "read_resource", arguments: { uri: of } });
  expect((await byTool(uri)).replaceAll(uri, "URI")).toBe((await byTool(never)).replaceAll(never, "URI"));
}

const calls = [{ tool: "ops.secret.op0" }, { tool: "ops.plain.op1" }];

describe("the parts of an answer that is too large, of a gateway", () => {
  it.each([
    ["list", { limit: 40 }],
    ["search", { q: "operation" }],
    ["call", { calls }],
  ])("are gone for %s when rules hide an operation between two of them", async (name, args) => {
    const opened = open();
    const uri = nextOf(await opened.ask("hub", "tools/call", { name, arguments: args }));
    expect(await read(opened, "hub", uri)).toContain("contents");
    opened.rules.set(rulesThatHide(["ops.secret.*"]));
    await expectGone(opened, "hub", uri);
    const again = nextOf(await opened.ask("hub", "tools/call", { name, arguments: args }));
    const part = await read(opened, "hub", again);
    expect(part).toContain("contents");
    expect(part).not.toContain("op0");
  });

  it.each([
    ["list", { limit: 40 }],
    ["call", { calls }],
  ])("are not there for %s by another view, which hides less or more", async (name, args) => {
    const opened = open();
    const uri = nextOf(await opened.ask("hub", "tools/call", { name, arguments: args }));
    for (const surface of ["narrow", "other", "direct"]) await expectGone(opened, surface, uri);
    expect(await read(opened, "hub", uri)).toContain("contents");
  });

  it("stay when rules are replaced by the same, and operations come", async () => {
    const opened = open();
    const uri = nextOf(await opened.ask("hub", "tools/call", { name: "list", arguments: {} }));
    opened.rules.set(rulesThatHide([]));
    opened.register("late");
    expect(await read(opened, "hub", uri)).toContain("contents");
  });
});
