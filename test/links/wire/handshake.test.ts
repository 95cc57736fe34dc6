import { describe, expect, it } from "vitest";
import { openWireClient } from "../../../src/links/wire/open-wire-client.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { settle } from "../../surface/support.ts";
import { ManualClock } from "../manual-clock.ts";
import { createMemoryPair } from "../support/memory-transport.ts";
import { openRich, rich } from "../support/rich-surface.ts";
import { serveWire, RawPeer, agree, outcome, serveRaw } from "./support.ts";

describe("shaking hands, as a client", () => {
  it("refuses a live surface of another name", async () => {
    const { live } = openRich();
    const pair = createMemoryPair();
    serveWire(live, pair.server);
    const error = await outcome(openWireClient(defineSurface("poor", {}), pair.client));
    expect(error).toMatchObject({ code: "UNKNOWN_MEMBER" });
    expect(pair.client.isClosed).toBe(true);
    await live.close();
  });

  it.each([
    ["no object", 5, "PROTOCOL_MISMATCH"],
    ["another version", { protocol: 2, surface: "rich", members: {} }, "PROTOCOL_MISMATCH"],
    ["no version", { surface: "rich", members: {} }, "PROTOCOL_MISMATCH"],
    ["no members", { protocol: 1, surface: "rich" }, "PROTOCOL_MISMATCH"],
    ["another name", { protocol: 1, surface: "poor", members: {} }, "UNKNOWN_MEMBER"],
  ])("refuses a server that answers with %s", async (_what, answer, code) => {
    const pair = createMemoryPair();
    const peer = new RawPeer(pair.server);
    const opening = outcome(openWireClient(rich, pair.client));
    const hello = await peer.next((message) => message.method === "surface/hello");
    peer.answer(hello.id, answer);
    expect(await opening).toMatchObject({ code });
    expect(peer.isClosed || pair.client.isClosed).toBe(true);
  });

  it.each([
    ["that it does not know the method", { code: -32601, message: "x" }, "PROTOCOL_MISMATCH"],
    [
      "a refusal",
      { code: -32000, message: "x", data: { kind: "refusal", code: "A", message: "b" } },
      "PROTOCOL_MISMATCH",
    ],
    ["an internal error", { code: -32000, message: "x", data: { kind: "surface", code: "INTERNAL" } }, "UNAVAILABLE"],
  ])("refuses a server that answers with %s", async (_what, error, code) => {
    const pair = createMemoryPair();
    const peer = new RawPeer(pair.server);
    const opening = outcome(openWireClient(rich, pair.client));
    const hello = await peer.next((message) => message.method === "surface/hello");
    peer.refuse(hello.id, error);
    expect(await opening).toMatchObject({ code });
  });

  it("gives a server up that says nothing", async () => {
    const clock = new ManualClock();
    const pair = createMemoryPair();
    const opening = outcome(openWireClient(rich, pair.client, { clock, handshakeMs: 700 }));
    await clock.pass(699);
    expect(pair.client.isClosed).toBe(false);
    await clock.pass(1);
    expect(await opening).toMatchObject({ code: "UNAVAILABLE" });
    expect(pair.client.isClosed).toBe(true);
    expect(clock.size).toBe(0);
  });

  it("gives a server up that goes, breaks or sends garbage", async () => {
    for (const [act, code] of [
      [(_peer: RawPeer, cut: () => void) => cut(), "UNAVAILABLE"],
      [(peer: RawPeer) => peer.send("garbage"), "PROTOCOL_MISMATCH"],
      [(peer: RawPeer) => peer.tell("surface/goodbye", {}), "UNAVAILABLE"],
    ] as const) {
      const clock = new ManualClock();
      const pair = createMemoryPair();
      const peer = new RawPeer(pair.server);
      const opening = outcome(openWireClient(rich, pair.client, { clock }));
      await peer.next((message) => message.method === "surface/hello");
      act(peer, () => pair.server.cut());
      await settle(9);
      await clock.pass(6000);
      expect(await opening).toMatchObject({ code });
    }
  });

  it("ends with its signal, before and while it waits", async () => {
    const early = createMemoryPair();
    const signal = AbortSignal.abort();
    expect(await outcome(openWireClient(rich, early.client, { signal }))).toMatchObject({ code: "ABORTED" });
    expect(early.client.isClosed).toBe(true);
    const pair = createMemoryPair();
    const controller = new AbortController();
    const opening = outcome(openWireClient(rich, pair.client, { signal: controller.signal }));
    await settle();
    controller.abort();
    expect(await opening).toMatchObject({ code: "ABORTED" });
    expect(pair.client.isClosed).toBe(true);
  });

  it("takes the heartbeat that the server says", async () => {
    const clock = new ManualClock();
    const pair = createMemoryPair();
    const peer = new RawPeer(pair.server);
    const opening = openWireClient(rich, pair.client, { clock });
    const hello = await peer.next((message) => message.method === "surface/hello");
    peer.answer(hello.id, { ...(agree(hello) as object), heartbeatMs: 200 });
    await opening;
    await clock.pass(450);
    expect(peer.heard.some(({ method }) => method === "surface/ping")).toBe(true);
  });
});

describe("shaking hands, as a server", () => {
  it.each(["surface/ask", "surface/follow", "surface/describe", "surface/ping", "odd"])(
    "serves no %s before it",
    async (method) => {
      const { live, peer } = serveRaw();
      peer.ask(1, method, { verb: "get", member: "chest", stream: 1, credit: 1, members: [] });
      expect((await peer.reply(1)).error).toMatchObject({ data: { code: "PROTOCOL_MISMATCH" } });
      expect((await peer.hello()).result).toMatchObject({ protocol: 1, surface: "rich" });
      await live.close();
    },
  );

  it.each([
    [undefined, -32602],
    [[], -32602],
    [{}, -32602],
    [{ protocol: 1, surface: "rich", members: [] }, -32602],
    [{ protocol: 2, surface: "rich", members: {} }, "PROTOCOL_MISMATCH"],
    [{ surface: "rich", members: {} }, "PROTOCOL_MISMATCH"],
    [{ protocol: "1", surface: "rich", members: {} }, "PROTOCOL_MISMATCH"],
    [{ protocol: 1, surface: "poor", members: {} }, "UNKNOWN_MEMBER"],
  ])("refuses %j", async (params, code) => {
    const { live, peer } = serveRaw();
    peer.ask(1, "surface/hello", params);
    const { error } = await peer.reply(1);
    expect([error.code, error.data?.code]).toContain(code);
    peer.ask(2, "surface/ask", { verb: "get", member: "chest" });
    expect((await peer.reply(2)).error.data.code).toBe("PROTOCOL_MISMATCH");
    await live.close();
  });

  it.each<[string, unknown]>([
    ["no object", 5],
    ["null", null],
    ["a list", ["rich"]],
    ["none", {}],
    ["a name that is no text", { a: 5 }],
    ["a name of 10 kB", { a: "x".repeat(10_000) }],
    ["a segment of 10 kB", { ["a".repeat(10_000)]: "rich" }],
    ["a segment of many dots", { ["a.".repeat(5000) + "a"]: "rich" }],
    ["an inherited name", JSON.parse('{ "__proto__": "rich" }')],
    ["an empty segment", { "": "rich" }],
    ["too many", Object.fromEntries(Array.from({ length: 257 }, (_none, index) => [`s${index}`, "rich"]))],
  ])("refuses segments that are %s", async (_what, segments) => {
    const { live, peer } = serveRaw();
    peer.ask(1, "surface/hello", { protocol: 1, surface: "any", segments, members: {} });
    expect((await peer.reply(1)).error.code).toBe(-32602);
    expect((await peer.hello()).result).toMatchObject({ surface: "rich" });
    await live.close();
  });

  it("serves what a surface is composed of under the segments that were said, and no other key", async () => {
    const { live, peer } = serveRaw();
    const asked = [
      "a.plain",
      "b.plain",
      "plain",
      "a.b.plain",
      "a.",
      "a..plain",
      "a.toString",
      `${"a.".repeat(5e4)}plain`,
    ];
    const members = Object.fromEntries(asked.map((key) => [key, {}]));
    peer.ask(1, "surface/hello", { protocol: 1, surface: "any", segments: { a: "rich", b: "poor" }, members });
    const { result } = await peer.reply(1);
    expect(result.surface).toBe("any");
    expect(Object.keys(result.members)).toEqual(["a.plain"]);
    peer.ask(2, "surface/ask", { verb: "call", member: "a.echo", argument: "hello" });
    expect((await peer.reply(2)).result).toEqual({ value: "hello" });
    for (const [index, member] of ["echo", "b.echo", "a.nobody", "a.constructor", "."].entries()) {
      peer.ask(10 + index, "surface/ask", { verb: "call", member });
      expect((await peer.reply(10 + index)).error.data.code).toBe("UNKNOWN_MEMBER");
    }
    await live.close();
  });

  it("is for one surface a connection: the same hello again is answered, another one refused", async () => {
    const { live, peer } = serveRaw();
    await peer.hello();
    const hello = { protocol: 1, surface: "rich", members: { plain: {} } };
    peer.ask(1, "surface/hello", hello);
    expect(Object.keys((await peer.reply(1)).result.members)).toEqual(["plain"]);
    for (const [index, other] of [{ surface: "any", segments: { a: "rich" } }, { segments: { a: "rich" } }].entries()) {
      peer.ask(2 + index, "surface/hello", { ...hello, ...other });
      expect((await peer.reply(2 + index)).error.data.code).toBe("UNKNOWN_MEMBER");
    }
    await live.close();
  });

  it("names no member that was not asked for", async () => {
    const { live, peer } = serveRaw();
    const members = { chest: {}, toString: {}, nobody: {} };
    peer.ask(1, "surface/hello", { protocol: 1, surface: "rich", members });
    const { result } = await peer.reply(1);
    expect(result.members).toEqual({ chest: { kind: "cell", hash: expect.stringMatching(/^[0-9a-f]{64}$/) } });
    peer.ask(2, "surface/describe", { members: ["chest", "toString", 5, "nobody"] });
    expect(Object.keys((await peer.reply(2)).result.members)).toEqual(["chest"]);
    for (const params of [undefined, {}, { members: {} }, []]) {
      peer.ask(3, "surface/describe", params);
      expect((await peer.reply(3)).error.code).toBe(-32602);
      peer.heard.length = 0;
    }
    await live.close();
  });

  it("gives a peer up that says nothing", async () => {
    const clock = new ManualClock();
    const { served, peer, live } = serveRaw({ clock, handshakeMs: 300 });
    await clock.pass(300);
    await served.closed;
    await settle();
    expect(peer.isClosed).toBe(true);
    expect(clock.size).toBe(0);
    await live.close();
  });
});
