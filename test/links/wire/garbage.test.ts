import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noteRejections, settle, until } from "../../surface/support.ts";
import { connectRaw, outcome, serveRaw } from "./support.ts";

const v = "2.0";
const fatal: [string, unknown][] = [
  ["a text", "x"],
  ["a number", 5],
  ["null", null],
  ["a batch", [{ jsonrpc: v, id: 1, method: "surface/ping" }]],
  ["no version", { id: 1, method: "surface/ping" }],
  ["an old version", { jsonrpc: "1.0", id: 1, method: "surface/ping" }],
  ["a method that is no text", { jsonrpc: v, id: 1, method: 5 }],
  ["a request with a result", { jsonrpc: v, id: 1, method: "surface/ping", result: {} }],
  ["a request with an error", { jsonrpc: v, id: 1, method: "surface/ping", error: { code: 1, message: "x" } }],
  ["a notification with a result", { jsonrpc: v, method: "surface/credit", result: null }],
  ["an id that is null", { jsonrpc: v, id: null, method: "surface/ping" }],
  ["an id that is an object", { jsonrpc: v, id: {}, method: "surface/ping" }],
  ["an id that is a fraction", { jsonrpc: v, id: 1.5, method: "surface/ping" }],
  ["an id that is long", { jsonrpc: v, id: "x".repeat(200), method: "surface/ping" }],
  ["an answer without an id", { jsonrpc: v, result: 1 }],
  ["an answer to nobody", { jsonrpc: v, id: null, error: { code: -32700, message: "parse error" } }],
  ["an answer without a result", { jsonrpc: v, id: 1 }],
  ["an error that is a text", { jsonrpc: v, id: 1, error: "no" }],
  ["an error without a code", { jsonrpc: v, id: 1, error: { message: "no" } }],
];

const harmless: [string, unknown][] = [
  ["an unknown notification", { jsonrpc: v, method: "surface/nope", params: {} }],
  ["notifications of the library", { jsonrpc: v, method: "$/progress" }],
  ["a log of the library", { jsonrpc: v, method: "$/logTrace", params: [] }],
  ["a cancel without parameters", { jsonrpc: v, method: "$/cancelRequest" }],
  ["a cancel of nothing", { jsonrpc: v, method: "$/cancelRequest", params: { id: null } }],
  ["a cancel of an unknown request", { jsonrpc: v, method: "$/cancelRequest", params: { id: 99 } }],
  ["an answer to an unknown request", { jsonrpc: v, id: 12345, result: 1 }],
  ["an error for an unknown request", { jsonrpc: v, id: "x", error: { code: 1, message: "x" } }],
  ["an item of an unknown stream", { jsonrpc: v, method: "surface/item", params: { stream: 77, value: 1 } }],
  ["an item without parameters", { jsonrpc: v, method: "surface/item" }],
  ["progress of nothing", { jsonrpc: v, method: "surface/progress", params: [1] }],
  ["credit for nothing", { jsonrpc: v, method: "surface/credit", params: { stream: {}, credit: 1 } }],
  ["an unknown request", { jsonrpc: v, id: "unknown", method: "surface/nope" }],
  ["a method of a prototype", { jsonrpc: v, id: "proto", method: "__proto__", params: {} }],
];

describe("garbage", () => {
  it.each(fatal)("ends a server's connection when it is %s", async (_what, message) => {
    const { peer, served, live } = serveRaw();
    await peer.hello();
    peer.send(message);
    await served.closed;
    await settle();
    expect(peer.isClosed).toBe(true);
    await live.close();
  });

  it.each(fatal)("ends a client's connection with its cause when it is %s", async (_what, message) => {
    const { peer, closed, client } = await connectRaw();
    const use = outcome(client.chest.get());
    peer.send(message);
    expect(await closed).toMatchObject({ kind: "lost", cause: { code: "PROTOCOL_MISMATCH" } });
    expect(await use).toMatchObject({ code: "DISCONNECTED" });
  });

  it.each(harmless)("does a server no harm when it is %s", async (_what, message) => {
    const { peer, live } = serveRaw();
    await peer.hello();
    peer.send(message);
    peer.ask("after", "surface/ping");
    expect((await peer.reply("after")).result).toBe(null);
    await live.close();
  });

  it.each(harmless)("does a client no harm when it is %s", async (_what, message) => {
    const { peer, client } = await connectRaw();
    peer.send(message);
    const use = client.maybe.get();
    const { id } = await peer.next(({ method }) => method === "surface/ask");
    peer.answer(id, {});
    expect(await use).toBeUndefined();
  });

  it("is answered by an error where it is a request", async () => {
    const { peer, live } = serveRaw();
    await peer.hello();
    const cases: [string, unknown][] = [
      ["surface/nope", {}],
      ["surface/ask", undefined],
      ["surface/ask", []],
      ["surface/ask", {}],
      ["surface/ask", { verb: "get" }],
      ["surface/ask", { verb: "toString", member: "chest" }],
      ["surface/ask", { verb: "watch", member: "chest" }],
      ["surface/ask", { verb: 5, member: "chest" }],
      ["surface/ask", { verb: "get", member: {} }],
      ["surface/ask", { verb: "get", member: "nobody" }],
      ["surface/ask", { verb: "get", member: "__proto__" }],
      ["surface/ask", { verb: "call", member: "chest" }],
      ["surface/ask", { verb: "wait", member: "rang", options: 5 }],
      ["surface/ask", { verb: "wait", member: "rang", options: { timeoutMs: "x" } }],
      ["surface/ask", { verb: "wait", member: "rang", options: { since: 5 } }],
      ["surface/ask", { verb: "get", member: "chest", progress: "x" }],
      ["surface/ask", { verb: "call", member: "bury", argument: 5 }],
      ["surface/ask", { verb: "item", member: "places", argument: "no date" }],
      ["surface/follow", { verb: "watch", member: "chest" }],
      ["surface/follow", { verb: "watch", member: "chest", stream: "x", credit: 1 }],
      ["surface/follow", { verb: "watch", member: "chest", stream: 1, credit: -1 }],
      ["surface/follow", { verb: "get", member: "chest", stream: 1, credit: 1 }],
      ["surface/follow", { verb: "watch", member: "nobody", stream: 1, credit: 1 }],
      ["surface/follow", { verb: "open", member: "chest", stream: 1, credit: 1 }],
    ];
    for (const [index, [method, params]] of cases.entries()) {
      peer.ask(index, method, params);
      const { error } = await peer.reply(index);
      expect({ params, code: error?.code }).toEqual({ params, code: expect.any(Number) });
    }
    await live.close();
  });

  it("is a request to a client, which serves nothing", async () => {
    const { peer } = await connectRaw();
    peer.ask("a", "surface/ask", { verb: "get", member: "chest" });
    expect((await peer.reply("a")).error.code).toBe(-32601);
  });

  it("is a second stream or request by a name that is in use, which is refused or ignored", async () => {
    const { peer, live, state } = serveRaw();
    await peer.hello();
    const follow = { verb: "watch", member: "chest", stream: 1, credit: 1 };
    peer.ask(1, "surface/follow", follow);
    await peer.next(({ method }) => method === "surface/item");
    peer.ask(2, "surface/follow", follow);
    expect((await peer.reply(2)).error.code).toBe(-32602);
    const slow = { verb: "call", member: "bury", argument: { at: "2026-01-01T00:00:00.000Z", how: "slow" } };
    for (let again = 0; again < 5; again += 1) {
      peer.ask("same", "surface/ask", slow);
      await settle(6);
    }
    expect(state.calls).toBe(1);
    state.release();
    await peer.reply("same");
    peer.ask("same", "surface/ask", slow);
    await until(() => state.calls === 2);
    await live.close();
  });

  it("writes nothing to the console and leaves no rejection, whatever it is", async () => {
    const rejections = noteRejections();
    const written: unknown[] = [];
    const real = { ...console };
    for (const name of ["log", "warn", "error", "info"] as const) console[name] = (...args) => void written.push(args);
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(anyMessage, { maxLength: 6 }), async (messages) => {
          const [server, client] = [serveRaw(), await connectRaw()];
          await server.peer.hello();
          for (const message of messages) {
            server.peer.send(message);
            client.peer.send(message);
          }
          await settle(9);
          await Promise.all([server.live.close(), client.connection.close()]);
          expect(await client.closed).toBeDefined();
        }),
        { numRuns: 150 },
      );
    } finally {
      Object.assign(console, real);
    }
    await settle();
    expect([written, rejections.end()]).toEqual([[], []]);
  });
});

const anyJson = fc.jsonValue({ maxDepth: 2 });
const anyMethod = fc.constantFrom(
  ...["surface/hello", "surface/describe", "surface/ask", "surface/follow", "surface/item", "surface/credit"],
  ...["surface/progress", "surface/ping", "$/cancelRequest", "$/progress", "odd"],
);
const anyParams = fc.oneof(
  anyJson,
  fc.record(
    {
      verb: fc.constantFrom("get", "watch", "call", "wait", "open", "odd"),
      member: fc.constantFrom("chest", "ticks", "rang", "bury", "echo", "__proto__"),
      argument: anyJson,
      options: anyJson,
      stream: fc.oneof(fc.integer({ min: 0, max: 3 }), anyJson),
      credit: fc.oneof(fc.integer({ min: 0, max: 99 }), anyJson),
      token: fc.integer({ min: 0, max: 3 }),
      value: anyJson,
      id: fc.oneof(fc.integer({ min: 0, max: 3 }), anyJson),
      members: anyJson,
    },
    { requiredKeys: [] },
  ),
);
const anyId = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constantFrom("a", "b"), anyJson);
const anyMessage = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      { jsonrpc: fc.constant(v), id: anyId, method: anyMethod, params: anyParams },
      { requiredKeys: ["jsonrpc", "method"] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record(
      { jsonrpc: fc.constant(v), id: anyId, result: anyJson, error: anyJson },
      { requiredKeys: ["jsonrpc"] },
    ),
  },
  { weight: 1, arbitrary: anyJson },
);
