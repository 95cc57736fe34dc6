import { afterAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { anonymous } from "../../src/surface/caller.ts";
import {
  Refusal,
  content,
  defineSurface,
  event,
  mcp,
  mcpTool,
  operationRegistry,
  procedure,
  readOnly,
  stream,
  textBlock,
} from "../../src/index.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { createTestClient } from "../../src/testing/index.ts";

const surface = defineSurface("ci", {
  "job.run": mcpTool(
    procedure({
      input: z.object({ job: z.string() }),
      output: z.object({ job: z.string(), runs: z.int() }),
      errors: { RUNNING: z.object({ since: z.string() }) },
    }),
  ),
  "job.count": readOnly(mcpTool(procedure({ output: z.int() }))),
  "log.lines": mcpTool(stream({ input: z.object({ job: z.string() }), output: z.string() })),
  "job.ended": mcpTool(event({ output: z.object({ job: z.string() }) })),
});

const registry = operationRegistry();
registry.register({ name: "drawn", description: "Draws" }, () => content([textBlock("a picture")]));
registry.register({ name: "hidden.thing" }, () => ({}));
registry.register({ name: "inner", visibility: "internal" }, () => ({}));
registry.register({ name: "wrong", outputSchema: z.object({ n: z.int() }) }, () => JSON.parse('{"n":"secret"}'));
registry.register({ name: "throws" }, () => {
  throw new TypeError("secret");
});

const app = mcp(surface, { onFault: () => undefined })
  .implement({
    "job.run": ({ job }) => {
      if (job === "busy") throw new Refusal("RUNNING", "it runs", { since: "noon" });
      return { job, runs: 1 };
    },
    "job.count": () => 3,
    async *"log.lines"() {
      yield "one";
    },
    async *"job.ended"() {},
  })
  .tools({ loose: { handler: () => ({ at: 1 }) } })
  .mount("hub", registry)
  .pull()
  .views({
    open: {},
    hub: { face: "gateway", disallow: ["hub.hidden.*"] },
    reading: { face: "gateway", readOnly: true },
    counting: { face: "gateway", allow: ["job.count"] },
    locked: { deny: "closed" },
  });

const client = createTestClient(app);
afterAll(() => client.close());

function by(surfaceName: string): { readonly caller: typeof anonymous } {
  return { caller: { ...anonymous, view: { surface: surfaceName } } };
}

async function call(name: string, args: JsonObject, view = "hub"): Promise<JsonObject> {
  return client.request("tools/call", { name, arguments: args }, by(view));
}

async function batch(calls: readonly JsonObject[]): Promise<readonly JsonObject[]> {
  const { structuredContent } = await call("call", { calls: [...calls] });
  // As call answers.
  return (structuredContent as { readonly results: readonly JsonObject[] }).results;
}

/** What a batch says of a call that answered this when it was made alone. */
function toResult(direct: JsonObject): object {
  if (direct["isError"] !== true) return { success: true, result: direct["structuredContent"] ?? direct["content"] };
  const { code, message, details, issues } = Object(Reflect.get(Object(direct["_meta"]), "surface-mcp/error"));
  const more = details ?? issues;
  return { success: false, error: { code, message, ...(more === undefined ? {} : { details: more }) } };
}

describe("a gateway behind a view", () => {
  it("lists four tools in less than 4 kB, and only reads where its view does", async () => {
    const list = await client.request("tools/list", {}, by("hub"));
    expect(JSON.stringify(list).length).toBeLessThan(4000);
    const hints = async (view: string): Promise<unknown> => {
      const { tools } = await client.request("tools/list", {}, by(view));
      // As tools/list answers.
      return (tools as readonly JsonObject[]).map(({ name, annotations }) => [
        name,
        Reflect.get(Object(annotations), "readOnlyHint"),
      ]);
    };
    expect(await hints("hub")).toEqual([
      ["call", undefined],
      ["list", true],
      ["schema", true],
      ["search", true],
    ]);
    for (const view of ["reading", "counting"]) {
      expect(await hints(view)).toEqual([
        ["call", true],
        ["list", true],
        ["schema", true],
        ["search", true],
      ]);
    }
  });

  it("lists the same to who lacks an operation and where there is none", async () => {
    const one = defineSurface("one", { open: readOnly(mcpTool(procedure({ output: z.string() }))) });
    const listOf = async (isThere: boolean): Promise<unknown> => {
      const few = operationRegistry();
      few.register({ name: "look", type: "query" }, () => ({}));
      if (isThere) few.register({ name: "wipe", scopes: ["one:admin"], openWorld: true }, () => ({}));
      const hub = mcp(one)
        .implement({ open: () => "" })
        .mount("hub", few);
      const looking = createTestClient(hub.views({ default: { face: "gateway" } }));
      const tools = await looking.listTools();
      await looking.close();
      return tools;
    };
    expect(await listOf(true)).toEqual(await listOf(false));
  });

  it("knows tools of every kind as operations when they are listed", async () => {
    const { structuredContent } = await call("list", {});
    // As list answers.
    const { operations } = structuredContent as { readonly operations: readonly JsonObject[] };
    expect(operations.map(({ tool, type }) => [tool, type])).toEqual([
      ["hub.drawn", "mutation"],
      ["hub.throws", "mutation"],
      ["hub.wrong", "mutation"],
      ["job.count", "query"],
      ["job.ended", "query"],
      ["job.run", "mutation"],
      ["log.lines", "query"],
      ["loose", "mutation"],
      ["read_resource", "query"],
      ["wait_for_change", "query"],
    ]);
  });

  it.each<readonly [string, string, JsonObject]>([
    ["job.run", "job_run", { job: "a" }],
    ["job.run", "job_run", { job: "busy" }],
    ["job.run", "job_run", { job: 1 }],
    ["job.run", "job_run", {}],
    ["job.count", "job_count", {}],
    ["log.lines", "log_lines", { job: "a", max_items: 1, wait_ms: 10 }],
    ["job.ended", "job_ended", { timeout_ms: 0 }],
    ["loose", "loose", {}],
    ["hub.drawn", "hub_drawn", {}],
    ["read_resource", "read_resource", { uri: "surface://ci/none" }],
  ])("answers a call of %s as the tool itself does when it is given %o", async (tool, name, input) => {
    const direct = await call(name, input, "open");
    const [result] = await batch([{ tool, input }]);
    expect(result).toEqual(toResult(direct));
  });

  it("tells no secret, and the code of what went wrong, when an operation fails by itself", async () => {
    const results = await batch([{ tool: "hub.throws" }, { tool: "hub.wrong" }]);
    expect(results).toMatchObject([{ error: { code: "INTERNAL" } }, { error: { code: "INVALID_OUTPUT" } }]);
    expect(JSON.stringify(results)).not.toContain("secret");
  });

  it("answers the same of what is hidden, internal, a tool of its own and unknown", async () => {
    const tools = ["no.such", "hub.hidden.thing", "hub_hidden_thing", "hub.inner", "call", "search"];
    const [unknown, ...others] = await batch(tools.map((tool) => ({ tool })));
    expect(unknown).toEqual({
      success: false,
      error: { code: "OPERATION_NOT_FOUND", message: "there is no operation of this name" },
    });
    for (const other of others) expect(other).toEqual(unknown);
    const schemas = await Promise.all(tools.map((tool) => call("schema", { tool })));
    for (const schema of schemas) expect(schema).toEqual(schemas[0]);
    expect(schemas[0]).toMatchObject({ isError: true });
    const found = await call("search", { q: "hidden" });
    expect(found["structuredContent"]).toEqual({ tools: [], total: 0 });
  });

  it("names what is near an unknown id, of what its caller may see, and the same where something hidden has that id", async () => {
    const messageOf = async (tool: string): Promise<unknown> => {
      const [result] = await batch([{ tool }]);
      const direct = await call("schema", { tool });
      const { message } = Object(result?.["error"]);
      expect(direct["content"]).toMatchObject([{ text: expect.stringContaining(String(message)) }]);
      return message;
    };
    const near = (...ids: string[]): string =>
      `there is no operation of this name; near it: ${ids.map((id) => `"${id}"`).join(", ")}`;
    expect(await messageOf("drawn")).toBe(near("hub.drawn"));
    expect(await messageOf("hub_throw")).toBe(near("hub.throws"));
    expect(await messageOf("count.job")).toBe(near("job.count"));
    for (const tool of ["hub.hidden.thing", "hidden.thing", "hub.hidden.thingy", "hub.inner", "x".repeat(300), ""]) {
      expect([tool, await messageOf(tool)]).toEqual([tool, "there is no operation of this name"]);
    }
  });

  it("is an error that tells all results when every call failed", async () => {
    const answer = await call("call", { calls: [{ tool: "no.such" }, { tool: "job.run", input: { job: "busy" } }] });
    expect(answer["isError"]).toBe(true);
    expect(answer).toMatchObject({
      structuredContent: {
        results: [
          { error: { code: "OPERATION_NOT_FOUND" } },
          { error: { code: "RUNNING", message: "it runs", details: { since: "noon" } } },
        ],
      },
    });
    const one = await call("call", { calls: [{ tool: "no.such" }, { tool: "job.count" }] });
    expect(one["isError"]).toBeUndefined();
  });

  it("writes as text exactly what it says to programs when it answers", async () => {
    for (const answer of [
      await call("list", {}),
      await call("search", { q: "job" }),
      await call("schema", { tool: "job.run" }),
      await call("call", { calls: [{ tool: "no.such" }] }),
    ]) {
      // As every tool answers.
      const [{ text }] = answer["content"] as readonly [{ readonly text: string }];
      expect(JSON.parse(text)).toEqual(answer["structuredContent"]);
    }
  });

  it("finds what was registered a moment ago, and not what has gone, when it is asked next", async () => {
    const remove = registry.register({ name: "fresh.pick" }, () => ({ ripe: true }));
    expect((await call("search", { q: "pick" }))["structuredContent"]).toMatchObject({ total: 1 });
    expect(await batch([{ tool: "hub.fresh.pick" }])).toEqual([{ success: true, result: { ripe: true } }]);
    remove();
    expect((await call("search", { q: "pick" }))["structuredContent"]).toMatchObject({ total: 0 });
    expect(await batch([{ tool: "hub.fresh.pick" }])).toMatchObject([{ success: false }]);
  });

  it("stands in the tree of calls with its calls under it when it has run", async () => {
    await batch([{ tool: "job.count" }, { tool: "job.run", input: { job: "busy" } }]);
    const root = app.calls.roots().at(-1);
    expect(root).toMatchObject({
      operationId: "call",
      surface: "hub",
      state: "completed",
      children: [
        { operationId: "job.count", state: "completed" },
        { operationId: "job.run", state: "error", code: "RUNNING" },
      ],
    });
  });

  it("begins nothing more when it is cancelled, whatever the operation that runs does", async () => {
    const begun: string[] = [];
    const controller = new AbortController();
    const deaf = registry.register({ name: "deaf" }, async () => {
      begun.push("deaf");
      controller.abort();
      return new Promise(() => undefined);
    });
    const later = registry.register({ name: "later" }, () => void begun.push("later"));
    const calls = [{ tool: "hub.deaf" }, { tool: "hub.later" }];
    const options = { ...by("hub"), signal: controller.signal };
    const answer = await client.request("tools/call", { name: "call", arguments: { calls } }, options);
    expect(answer).toMatchObject({ isError: true, _meta: { "surface-mcp/error": { code: "ABORTED" } } });
    // What was left of the batch has had its turns by now.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(begun).toEqual(["deaf"]);
    expect(app.calls.roots().at(-1)).toMatchObject({ state: "aborted", children: [{ state: "aborted" }] });
    deaf();
    later();
  });

  it("tells progress of its operations as its own when it is asked to", async () => {
    const remove = registry.register({ name: "slow" }, (_input, { progress }) => {
      progress({ progress: 1, total: 4, message: "a quarter" });
    });
    const told: unknown[] = [];
    const calls = [{ tool: "job.count" }, { tool: "hub.slow" }];
    const options = { ...by("hub"), onProgress: (report: unknown) => void told.push(report) };
    await client.request("tools/call", { name: "call", arguments: { calls } }, options);
    expect(told).toEqual([
      { progress: 1, total: 2, message: "1 of 2: job.count" },
      { progress: 1.25, total: 2, message: "2 of 2: a quarter" },
      { progress: 2, total: 2, message: "2 of 2: hub.slow" },
    ]);
    remove();
  });
});
