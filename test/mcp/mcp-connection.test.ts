import { ObservedChannel } from "../../src/observe/observed-channel.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { cell, cellSource, defineSurface, mcp, mcpResource, type ViewRule } from "../../src/index.ts";
import { handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";
import { createHostileApp } from "../fixtures/hostile.ts";
import { CallQueue } from "../../src/mcp/dispatcher.ts";
import { ClientRequest, Dispatcher } from "../../src/mcp/dispatcher.ts";
import { closing, type RpcAnswer } from "../../src/mcp/protocol.ts";
import { anonymous } from "../../src/surface/caller.ts";
import { ConnectionHarness, type Sent } from "./connection-harness.ts";

const opened: ConnectionHarness[] = [];
afterEach(async () => {
  for (const harness of opened.splice(0)) await harness.close();
});

function open(): ConnectionHarness {
  const harness = new ConnectionHarness(createHostileApp({ onFault: () => {} }).open());
  opened.push(harness);
  return harness;
}

const call = (id: number, name: string, args: object = {}): string =>
  modernLine(id, "tools/call", { name, arguments: args });

const busy = { code: -32000, message: "Server busy: too many requests are in flight" };

const cancel = (requestId: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });

function methodsOf({ sent }: ConnectionHarness): readonly unknown[] {
  return sent.map((message) => message["method"]).filter((method) => method !== undefined);
}

function codeOf(answer: Sent): unknown {
  return Reflect.get(Object(answer["error"]), "code");
}

describe("Dispatcher", () => {
  it("answers a request that waits for its subscription when it is closed", async () => {
    const runtime = createHostileApp({ onFault: () => {} }).open();
    const answers: RpcAnswer[] = [];
    class Waiting extends ClientRequest {
      readonly version = undefined;
      readonly log = undefined;
      readonly token = undefined;
      open(): never {
        throw new Error("no handler");
      }
      answer(answer: RpcAnswer): void {
        answers.push(answer);
      }
    }
    const dispatcher = new Dispatcher<Waiting>({
      runtime,
      channel: new ObservedChannel(runtime.observers, "test"),
      subscriptions: { serve: () => true, cancel: () => {} },
      queueOf: () => new CallQueue(),
    });
    const view = runtime.viewFor(anonymous);
    if (view.kind === "error") throw new Error("no view");
    const frame = { kind: "request", id: 1, method: "resources/subscribe", params: {} } as const;
    dispatcher.serve(new Waiting({ frame, caller: anonymous, view }, "legacy"));
    expect([answers, dispatcher.isIdle]).toEqual([[], false]);
    dispatcher.close();
    dispatcher.close();
    expect([answers, dispatcher.isIdle]).toEqual([[closing], true]);
    await runtime.close();
  });
});

describe("McpConnection", () => {
  it.each([
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","method":"notifications/nope","params":{"a":1}}',
    cancel("open"),
    cancel(1),
  ])("stays modern when a probed connection hears %s", async (notification) => {
    const harness = await open().open("modern");
    harness.gate.receive(modernLine(1, "server/discover"));
    harness.gate.receive(notification);
    const answer = await harness.request("modern", 2, { method: "server/discover" });
    expect(answer["result"]).toMatchObject({ supportedVersions: ["2026-07-28"] });
    expect((await harness.request("modern", 3, { method: "resources/list" }))["result"]).toBeDefined();
  });

  it("runs no call that a call ahead of it in the same piece has hidden", async () => {
    const rules = cellSource<readonly ViewRule[]>([
      { id: "other", when: { surface: "other" }, verdict: { kind: "deny", reason: "no" } },
    ]);
    const ran: string[] = [];
    const hide = {
      id: "hide",
      when: { client: { name: "corpus" } },
      verdict: { kind: "tool_surface", disallow: ["b"] },
    } as const;
    const app = mcp(defineSurface("s", {}), { onFault: () => {} })
      .implement({})
      .tools({
        a: { handler: () => (ran.push("a"), rules.set([hide]), "hidden") },
        b: { handler: () => void ran.push("b") },
      })
      .views(rules);
    const harness = new ConnectionHarness(app.open());
    opened.push(harness);
    await harness.open("modern");
    harness.gate.receive(call(1, "a"));
    harness.gate.receive(call(2, "b"));
    await harness.until(() => harness.answers(2).length > 0);
    expect([ran, harness.answers(2)]).toMatchObject([["a"], [{ error: { code: -32602 } }]]);
  });

  it("answers requests behind the handshake after it", async () => {
    const harness = open();
    harness.gate.receive(legacyLine(1, "initialize", handshake));
    for (const id of [2, 3, 4]) harness.gate.receive(legacyLine(id, "tools/list"));
    await harness.until(() => harness.sent.length === 4);
    expect(harness.sent.map((message) => message["id"])).toEqual([1, 2, 3, 4]);
  });

  it.each(["legacy", "modern"] as const)("refuses a call when 256 wait for room in the %s era", async (era) => {
    const harness = await open().open(era);
    const write = era === "modern" ? modernLine : legacyLine;
    const slow = (id: number): string => write(id, "tools/call", { name: "slow", arguments: { ms: 60_000 } });
    for (let id = 0; id < 64 + 256; id += 1) harness.gate.receive(slow(id));
    expect(harness.sent).toEqual([]);
    harness.gate.receive(slow(1000));
    expect(harness.sent).toEqual([{ jsonrpc: "2.0", id: 1000, error: busy }]);
    // What is not a call is answered, and a call that is taken back makes room for the one that was refused.
    expect((await harness.request(era, "list", { method: "tools/list" }))["result"]).toBeDefined();
    harness.gate.receive(cancel(319));
    harness.gate.receive(slow(1000));
    harness.gate.receive(slow(1001));
    expect(harness.answers(1000)).toHaveLength(1);
    expect(harness.answers(1001)).toMatchObject([{ error: busy }]);
  });

  it("refuses a read when 256 wait for room", async () => {
    const harness = await open().open("modern");
    harness.gate.setOutputFull(true);
    const read = (id: number): string => modernLine(id, "resources/read", { uri: "app://state" });
    for (let id = 0; id < 257; id += 1) harness.gate.receive(read(id));
    expect(harness.sent).toEqual([{ jsonrpc: "2.0", id: 256, error: busy }]);
    harness.gate.setOutputFull(false);
    await harness.until(() => harness.sent.length === 257);
    expect(
      (await harness.request("modern", 256, { method: "resources/read", params: { uri: "app://state" } }))["result"],
    ).toBeDefined();
  });

  it("answers reads and lists while 64 calls run", async () => {
    const harness = await open().open("modern");
    for (let id = 0; id < 64; id += 1) harness.gate.receive(call(id, "slow", { ms: 60_000 }));
    const read = await harness.request("modern", "read", {
      method: "resources/read",
      params: { uri: "app://state" },
    });
    expect(read["result"]).toBeDefined();
    expect((await harness.request("modern", "list", { method: "tools/list" }))["result"]).toBeDefined();
  });

  it("starts no call and no read while the output is full", async () => {
    const harness = await open().open("modern");
    harness.gate.setOutputFull(true);
    harness.gate.receive(call(1, "echo", { text: "a" }));
    harness.gate.receive(modernLine(2, "resources/read", { uri: "app://state" }));
    // A read that waits can be taken back, like a call.
    harness.gate.receive(modernLine(3, "resources/read", { uri: "app://state" }));
    harness.gate.receive(cancel(3));
    await harness.request("modern", "list", { method: "tools/list" });
    // Long enough for what must not come: an answer takes a turn or two.
    await sleep(50);
    expect(harness.sent).toHaveLength(1);
    harness.gate.setOutputFull(false);
    await harness.until(() => harness.sent.length === 3);
    expect(harness.answers(3)).toEqual([]);
  });

  it("sends no question when a notification before it has filled the output again", async () => {
    const state = cellSource("a");
    let ask = (): void => {};
    const promise = new Promise<void>((resolve) => (ask = resolve));
    const app = mcp(defineSurface("s", { state: mcpResource(cell({ schema: z.string() })) }), { onFault: () => {} })
      .implement({ state })
      .tools({
        q: {
          mutates: false,
          async handler(_args: undefined, context) {
            await promise;
            return (await context.ask.elicit("q", z.object({}), "Sure?")).action;
          },
        },
      });
    const runtime = app.open();
    const [harness, other] = [new ConnectionHarness(runtime), new ConnectionHarness(runtime)];
    opened.push(harness);
    const uri = { method: "resources/subscribe", params: { uri: "surface://s/state" } };
    for (const each of [harness, other]) {
      const params = { ...handshake, capabilities: { elicitation: {} } };
      await each.request("legacy", "open", { method: "initialize", params });
      each.gate.receive('{"jsonrpc":"2.0","method":"notifications/initialized"}');
      await each.request("legacy", 1, uri);
    }
    harness.gate.receive(legacyLine(2, "tools/call", { name: "q" }));
    await harness.request("legacy", 3, { method: "tools/list" });
    harness.gate.setOutputFull(true);
    ask();
    state.set("b");
    await other.until(() => methodsOf(other).length === 1);
    harness.onNext = () => harness.gate.setOutputFull(true);
    harness.gate.setOutputFull(false);
    expect(methodsOf(harness)).toEqual(["notifications/resources/updated"]);
    harness.onNext = undefined;
    harness.gate.setOutputFull(false);
    expect(methodsOf(harness)).toEqual(["notifications/resources/updated", "elicitation/create"]);
    other.gate.close();
  });

  it("sends nothing after it was closed, and may be closed twice", async () => {
    const harness = await open().open("modern");
    harness.gate.receive(call(1, "slow", { ms: 60_000 }));
    harness.gate.close();
    harness.gate.receive(call(3, "echo", { text: "a" }));
    harness.gate.refuse("too-large");
    harness.gate.close();
    expect(harness.sent).toEqual([]);
  });

  it.each([
    ["too-large", -32600],
    ["not-utf8", -32700],
  ] as const)("refuses a frame that is %s under no id", (fault, code) => {
    const harness = open();
    harness.gate.refuse(fault);
    expect(harness.sent).toMatchObject([{ id: null, error: { code } }]);
  });

  it("refuses initialize within the modern era, with the served versions", async () => {
    const harness = await open().open("modern");
    await harness.request("modern", 1, { method: "tools/list" });
    const answer = await harness.request("legacy", 2, { method: "initialize", params: handshake });
    expect(codeOf(answer)).toBe(-32022);
    expect(answer["error"]).toMatchObject({ data: { supported: ["2026-07-28"], requested: "2025-11-25" } });
  });

  it("allows a probing client one fallback to the handshake", async () => {
    const harness = await open().open("modern");
    const first = await harness.request("legacy", 1, { method: "initialize", params: handshake });
    expect(first["result"]).toMatchObject({ protocolVersion: "2025-11-25" });
    expect(codeOf(await harness.request("legacy", 2, { method: "initialize", params: handshake }))).toBe(-32600);
  });

  it("keeps nothing of a handshake that it refuses", async () => {
    const harness = open();
    const list = { method: "tools/list" };
    const before = await harness.request("modern", 1, list);
    const old = { ...handshake, protocolVersion: "2024-11-05", _meta: { progressToken: {} } };
    const again = await new ConnectionHarness(createHostileApp({ onFault: () => {} }).open()).open("modern");
    opened.push(again);
    expect(codeOf(await again.request("legacy", 2, { method: "initialize", params: old }))).toBe(-32602);
    expect((await again.request("modern", 1, list))["result"]).toEqual(before["result"]);
  });

  it("answers ping before and after the legacy handshake", async () => {
    const harness = open();
    expect((await harness.request("legacy", 1, { method: "ping" }))["result"]).toEqual({});
    harness.gate.receive(legacyLine(2, "initialize", handshake));
    expect((await harness.request("legacy", 4, { method: "ping" }))["result"]).toEqual({});
  });
});
