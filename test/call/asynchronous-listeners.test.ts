import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { operationRegistry } from "../../src/catalog/mounts/operation-registry.ts";
import { Views } from "../../src/views/views.ts";
import { viewRulesFile } from "../../src/views/view-rules-file.ts";
import type { ViewRules } from "../../src/views/view-rules.ts";
import { mount, messagesOf } from "../catalog/mounts/mount-support.ts";
import { toolsOf } from "./nesting-support.ts";

const shown: ViewRules = [{ verdict: { kind: "tool_surface" } }];

/** An asynchronous function where one that returns nothing is asked for, as plain JavaScript may have it. */
const fails = (): Promise<never> => Promise.reject(new Error("later"));
// As above: the type of a function that returns one is the same where what it returns is not looked at.
const listens = fails as unknown as () => void;

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe("asynchronous functions of authors that fail", () => {
  // A rejection that nobody handles is an error of the whole run.
  afterEach(() => void vi.restoreAllMocks());

  it("a progress listener of a nested call is reported when it rejects", async () => {
    const tools = toolsOf({
      outer: { canCall: ["*"], handler: (_args, { call }) => call("inner", {}, { onProgress: listens }) },
      inner: {
        handler: (_args, { progress }) => {
          progress({ progress: 1 });
          return "ok";
        },
      },
    });
    expect((await tools.call("outer")).kind).toBe("answer");
    await turn();
    expect(tools.faults).toMatchObject([{ cause: { message: "later" } }]);
  });

  it("an unsubscribe function of a mount is reported when it rejects", async () => {
    const mounted = mount({ git: { list: () => [], subscribe: () => listens, invoke: () => null } });
    mounted.live.close();
    await turn();
    expect(messagesOf(mounted)).toEqual(["later"]);
  });

  it.each<readonly [string, () => unknown, readonly string[]]>([
    ["stop", () => listens, ["later"]],
    ["subscribe", fails, ["Cannot follow view rules: subscribe() must return a function", "later"]],
    ["answer of nothing", () => undefined, ["Cannot follow view rules: subscribe() must return a function"]],
  ])("rules of a source hold, and it is reported, when its %s fails", async (_name, subscribe, messages) => {
    const said: unknown[] = [];
    // Nothing sees to it that an author's source is one.
    const source = { get: () => shown, subscribe: subscribe as () => () => void };
    const views = new Views(source, { report: ({ cause }) => said.push(cause) });
    expect(views.decide({ surface: "default" }).verdict).toMatchObject({ kind: "tool_surface" });
    views.close();
    await turn();
    expect(said).toMatchObject(messages.map((message) => ({ message })));
  });

  it("a listener of a registry is reported when it rejects, and the others are called", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const heard = vi.fn<() => void>();
    const registry = operationRegistry();
    registry.subscribe(listens);
    registry.subscribe(heard);
    registry.register({ name: "a" }, () => 1);
    await turn();
    expect([heard.mock.calls.length, log.mock.calls.length]).toEqual([1, 1]);
  });

  it("a listener of a file of rules is reported when it rejects", async () => {
    const folder = await mkdtemp(join(tmpdir(), "surface-mcp-rules-"));
    const path = join(folder, "views.json");
    await writeFile(path, JSON.stringify(shown));
    const said: unknown[] = [];
    const file = viewRulesFile(path, { onFault: ({ cause }) => said.push(cause) });
    file.subscribe(listens);
    await writeFile(path, JSON.stringify([{ id: "b", verdict: { kind: "tool_surface" } }]));
    await vi.waitFor(() => expect(said).toMatchObject([{ message: "later" }]), 20_000);
    file.close();
    await rm(folder, { recursive: true });
  });
});
