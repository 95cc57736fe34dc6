import { createHash } from "node:crypto";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listenUnixSocket } from "../../../src/links/unix-socket.ts";
import { listenWebSocket } from "../../../src/links/web-socket.ts";
import type { Listening } from "../../../src/links/listening.ts";
import { type LiveEcho, startEcho } from "../support/echo-surface.ts";
import { until } from "../transport/support.ts";
import { afterThis, newFolder } from "../unix/support.ts";
import { HandPeer, openPipe, overSocket, toFrame } from "./hand-peer.ts";

interface Served extends LiveEcho {
  readonly listening: Listening;
  readonly address: string;
}

interface ServeOptions {
  readonly heartbeatMs?: number;
}

async function serveUnix(options: ServeOptions = {}): Promise<Served> {
  const served = startEcho();
  afterThis(() => served.live.close());
  const listening = await listenUnixSocket(served.live, join(await newFolder(), "s"), options);
  return { ...served, listening, address: listening.path };
}

async function serveWeb(options: ServeOptions = {}): Promise<Served> {
  const served = startEcho();
  afterThis(() => served.live.close());
  const listening = await listenWebSocket(served.live, { ...options, port: 0 });
  return { ...served, listening, address: listening.url };
}

async function dial({ address }: Served): Promise<HandPeer> {
  const peer = new HandPeer(await openPipe(address));
  afterThis(() => peer.pipe.cut());
  return peer;
}

const members = { say: { kind: "procedure", hash: "none" }, count: { kind: "cell", hash: "none" } };
const hello = { protocol: 1, surface: "echo", members };

async function greet(served: Served): Promise<HandPeer> {
  const peer = await dial(served);
  await peer.request("surface/hello", hello);
  return peer;
}

const say = { verb: "call", member: "say", argument: "hello" };
const wait = { verb: "call", member: "wait" };

async function expectAlive(served: Served): Promise<void> {
  const peer = await greet(served);
  expect(await peer.request("surface/ask", say)).toMatchObject({ result: { value: "hello" } });
  peer.pipe.cut();
}

const failure = (code: string): object => ({ error: { code: -32_000, data: { kind: "surface", code } } });

describe.each([
  ["a unix socket", serveUnix],
  ["a web socket", serveWeb],
])("a server on %s", (_name, serve) => {
  it("answers hello with its version, its name, its heartbeat and the members that it was asked for", async () => {
    const peer = await dial(await serve({ heartbeatMs: 1234 }));
    const asked = { ...members, none: { kind: "cell", hash: "none" } };
    const { result } = await peer.request("surface/hello", { ...hello, members: asked });
    const text = 'procedure\nargument {"type":"string"}\nvalue {"type":"string"}\n';
    expect(result).toEqual({
      protocol: 1,
      surface: "echo",
      heartbeatMs: 1234,
      members: {
        say: { kind: "procedure", hash: createHash("sha256").update(text).digest("hex") },
        count: { kind: "cell", hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    });
  });

  it("answers nothing else before a hello that it accepts, and takes one after those that it does not", async () => {
    const peer = await dial(await serve());
    expect(await peer.request("surface/ask", say)).toMatchObject(failure("PROTOCOL_MISMATCH"));
    expect(await peer.request("surface/hello", { ...hello, protocol: 2 })).toMatchObject(failure("PROTOCOL_MISMATCH"));
    expect(await peer.request("surface/hello", { ...hello, surface: "o" })).toMatchObject(failure("UNKNOWN_MEMBER"));
    expect(await peer.request("surface/hello", {})).toMatchObject({ error: { code: -32_602 } });
    expect(await peer.request("surface/ask", say)).toMatchObject(failure("PROTOCOL_MISMATCH"));
    expect(await peer.request("surface/hello", hello)).toMatchObject({ result: { protocol: 1 } });
    expect(await peer.request("surface/ask", say)).toMatchObject({ result: { value: "hello" } });
  });

  it("describes members when it is asked to", async () => {
    const peer = await greet(await serve());
    expect(await peer.request("surface/describe", { members: ["say", "count"] })).toMatchObject({
      result: {
        members: {
          say: { kind: "procedure", parts: { argument: { type: "string" }, value: { type: "string" } } },
          count: { kind: "cell", parts: { value: { type: "number" } } },
        },
      },
    });
  });

  it("describes a member once, however often it is named, and refuses a list that is too long", async () => {
    const peer = await greet(await serve());
    const { result } = await peer.request("surface/describe", { members: Array(10_000).fill("say") });
    expect(Object.keys(Object(Object(result).members))).toEqual(["say"]);
    const refused = await peer.request("surface/describe", { members: Array(10_001).fill("say") });
    expect(refused).toMatchObject({ error: { code: -32_602 } });
  });

  it("reads no large message before it has answered a hello, and reads one then", async () => {
    const served = await serve();
    const large = { ...say, argument: "x".repeat(1024 * 1024) };
    const early = await dial(served);
    early.start("surface/ask", large);
    await early.pipe.closed;
    const refused = await dial(served);
    await refused.request("surface/ping");
    refused.start("surface/ask", large);
    await refused.pipe.closed;
    const peer = await greet(served);
    expect(await peer.request("surface/ask", large)).toMatchObject({ result: { value: large.argument } });
  });

  it("ends the connection of a peer that sends more values than are read, and lives on", async () => {
    const served = await serve();
    const peer = await greet(served);
    peer.start("surface/ask", { ...say, argument: Array(500_001).fill(0) });
    await peer.pipe.closed;
    await expectAlive(served);
  });

  it("answers uses, and says what is wrong with others in none of its own words", async () => {
    const peer = await greet(await serve());
    expect(await peer.request("surface/ask", { verb: "get", member: "count" })).toMatchObject({ result: { value: 1 } });
    const invalid = await peer.request("surface/ask", { ...say, argument: 1 });
    expect(invalid).toMatchObject(failure("VALIDATION_ERROR"));
    expect(invalid.error?.data?.["issues"]).toMatchObject([{ path: "" }]);
    expect(await peer.request("surface/ask", { ...say, member: "no" })).toMatchObject(failure("UNKNOWN_MEMBER"));
    expect(await peer.request("surface/ask", { ...say, verb: "get" })).toMatchObject(failure("WRONG_KIND"));
    expect(await peer.request("surface/ask", { ...say, verb: "toString" })).toMatchObject({ error: { code: -32_602 } });
    expect(await peer.request("surface/ask")).toMatchObject({ error: { code: -32_602 } });
    expect(await peer.request("surface/nothing")).toMatchObject({ error: { code: -32_601 } });
    expect(await peer.request("surface/ping")).toMatchObject({ result: null });
  });

  it("gives a call its caller, an anonymous one where none is named, and refuses one that does not fit", async () => {
    const peer = await greet(await serve());
    const who = { verb: "call", member: "who" };
    const caller = { id: "ada", isAnonymous: false, scopes: ["read"], issuer: "https://login.example", key: "#1" };
    const named = await peer.request("surface/ask", { ...who, caller: { ...caller, token: "secret" } });
    const { key, ...fields } = caller;
    expect(named).toMatchObject({ result: { value: { caller: fields, key } } });
    expect(JSON.stringify(named)).not.toContain("secret");
    const unnamed = await peer.request("surface/ask", who);
    expect(unnamed).toMatchObject({
      result: { value: { caller: { id: "anonymous", isAnonymous: true, scopes: [] } } },
    });
    for (const unfit of [
      { ...caller, scopes: "read" },
      { ...caller, claims: { all: "x".repeat(65_536) } },
    ]) {
      expect(await peer.request("surface/ask", { ...who, caller: unfit })).toMatchObject({ error: { code: -32_602 } });
    }
  });

  it("aborts a call, and answers it, when it is cancelled", async () => {
    const served = await serve();
    const peer = await greet(served);
    const id = peer.start("surface/ask", wait);
    await until(() => served.waiting() === 1);
    peer.notify("$/cancelRequest", { id });
    expect(await peer.next((message) => message.id === id)).toMatchObject(failure("ABORTED"));
    expect(served.aborted()).toBe(1);
  });

  it("answers once when an id is used twice", async () => {
    const served = await serve();
    const peer = await greet(served);
    for (let time = 0; time < 2; time += 1) peer.send({ id: "same", method: "surface/ask", params: wait });
    await until(() => served.waiting() > 0);
    expect(await peer.request("surface/ask", say)).toMatchObject({ result: { value: "hello" } });
    expect(served.waiting()).toBe(1);
    served.release();
    await peer.request("surface/ping");
    expect(peer.heard.filter(({ id }) => id === "same")).toMatchObject([{ result: { value: "released" } }]);
  });

  it("takes a number and the text of it for one id, and is not stopped by many of them", async () => {
    const served = await serve();
    const peer = await greet(served);
    for (let time = 0; time < 300; time += 1) {
      peer.send({ id: 5000, method: "surface/ping", params: {} });
      peer.send({ id: "5000", method: "surface/ping", params: {} });
    }
    expect(await peer.request("surface/ask", say)).toMatchObject({ result: { value: "hello" } });
    peer.pipe.cut();
    await served.listening.close();
  });

  it("sends no more items than there is credit for, and none after the end", async () => {
    const peer = await greet(await serve());
    const follow = { verb: "open", member: "numbers", stream: 9, credit: 3 };
    const id = peer.start("surface/follow", follow);
    await until(() => peer.items(9).length === 3);
    await peer.request("surface/ping");
    expect(peer.items(9)).toEqual([1, 2, 3]);
    peer.notify("surface/credit", { stream: 9, credit: 2 });
    await until(() => peer.items(9).length === 5);
    peer.notify("surface/credit", { stream: 9, credit: 1_000_000 });
    peer.notify("$/cancelRequest", { id });
    await peer.next((message) => message.id === id);
    const count = peer.items(9).length;
    await peer.request("surface/ping");
    expect(peer.items(9)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  });

  it("skips to the newest value when a watch has no credit", async () => {
    const served = await serve();
    const peer = await greet(served);
    peer.start("surface/follow", { verb: "watch", member: "count", stream: 4, credit: 1 });
    await until(() => peer.items(4).length === 1);
    for (let value = 2; value <= 50; value += 1) served.count.set(value);
    await peer.request("surface/ping");
    expect(peer.items(4)).toEqual([1]);
    peer.notify("surface/credit", { stream: 4, credit: 5 });
    await until(() => peer.items(4).at(-1) === 50);
    expect(peer.items(4).length).toBeLessThanOrEqual(3);
  });

  it("asks for a sign of life, and ends the connection of a peer that gives none", async () => {
    const served = await serve({ heartbeatMs: 100 });
    const peer = await greet(served);
    await peer.next(({ method }) => method === "surface/ping");
    peer.isAwake = false;
    await peer.closed;
    await expectAlive(served);
  });

  it("says goodbye, takes nothing new, answers what runs, and ends when goodbye was said in return", async () => {
    const served = await serve();
    const peer = await greet(served);
    const id = peer.start("surface/ask", wait);
    await until(() => served.waiting() === 1);
    const closing = served.listening.close();
    await peer.next(({ method }) => method === "surface/goodbye");
    expect(await peer.request("surface/ask", say)).toMatchObject({ error: { code: -32_001 } });
    peer.notify("surface/goodbye");
    served.release();
    expect(await peer.next((message) => message.id === id)).toMatchObject({ result: { value: "released" } });
    await peer.closed;
    await closing;
  });

  it("ignores what it does not know", async () => {
    const peer = await greet(await serve());
    peer.notify("surface/nothing", { a: 1 });
    peer.notify("$/setTrace", { value: "verbose" });
    peer.notify("surface/credit", { stream: 77, credit: 1 });
    peer.notify("surface/credit", { stream: "a", credit: -1 });
    peer.notify("$/cancelRequest", { id: 77 });
    peer.notify("$/cancelRequest");
    peer.send({ id: 77, result: 1 });
    peer.send({ id: 77, error: { code: 1, message: "no" } });
    expect(await peer.request("surface/ask", say)).toMatchObject({ result: { value: "hello" } });
  });

  it.each([
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"surface/ping"}]'],
    ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":1,"method":"surface/ping"}'],
    ["no version", '{"id":1,"method":"surface/ping"}'],
    ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"surface/ping"}'],
    ["an id that is no integer", '{"jsonrpc":"2.0","id":1.5,"method":"surface/ping"}'],
    ["an id that is long", `{"jsonrpc":"2.0","id":"${"x".repeat(129)}","method":"surface/ping"}`],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"surface/ping"}'],
    ["a method that is no text", '{"jsonrpc":"2.0","id":1,"method":1}'],
    ["an answer without a result", '{"jsonrpc":"2.0","id":1}'],
    ["an error that is none", '{"jsonrpc":"2.0","id":1,"error":"no"}'],
    ["an empty object", "{}"],
    ["what is not JSON", "hello"],
    ["a number", "1"],
    ["too many levels", `{"jsonrpc":"2.0","method":"a","params":${"[".repeat(1000)}${"]".repeat(1000)}}`],
  ])("ends the connection of a peer that sends %s, and no other", async (_what, text) => {
    const served = await serve();
    const peer = await greet(served);
    peer.pipe.send(text);
    await peer.closed;
    await expectAlive(served);
  });

  it("lives on, and lets go of what runs, when a peer goes at any moment", async () => {
    const served = await serve();
    const script: ((peer: HandPeer) => void)[] = [
      (peer) => void peer.start("surface/hello", hello),
      (peer) => void peer.start("surface/describe", { members: ["say"] }),
      (peer) => void peer.start("surface/ask", say),
      (peer) => void peer.start("surface/ask", wait),
      (peer) => void peer.start("surface/follow", { verb: "open", member: "numbers", stream: 1, credit: 1000 }),
      (peer) => void peer.start("surface/follow", { verb: "watch", member: "count", stream: 2, credit: 1 }),
      (peer) => peer.notify("surface/credit", { stream: 2, credit: 1 }),
      (peer) => peer.notify("$/cancelRequest", { id: 5 }),
      (peer) => peer.notify("surface/goodbye"),
    ];
    for (let count = 0; count <= script.length; count += 1) {
      const peer = await dial(served);
      for (const act of script.slice(0, count)) act(peer);
      await new Promise((resolve) => setImmediate(resolve));
      peer.pipe.cut();
    }
    await expectAlive(served);
    await until(() => served.waiting() === 0);
    expect(served.waiting()).toBe(0);
  });
});

describe("a server on a unix socket", () => {
  it.each([
    ["another protocol", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["a line of JSON", '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n\r\n\r\n'],
    ["a length of 1 GiB", `Content-Length: ${1024 ** 3}\r\n\r\n`],
    ["a header without an end", "x".repeat(10_000)],
    ["bytes that are not text", Buffer.from([0xff, 0xfe, 0, 1, 2, 3, 13, 10, 13, 10])],
  ])("ends the connection of a peer that sends %s, and no other", async (_what, bytes) => {
    const served = await serveUnix();
    const socket = connect(served.address);
    socket.on("error", () => {});
    socket.write(bytes);
    await new Promise((resolve) => socket.resume().once("close", resolve));
    await expectAlive(served);
  });

  it("lives on when a peer breaks in the middle of a frame, at every place", async () => {
    const served = await serveUnix();
    const frame = toFrame(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "surface/hello", params: hello }));
    for (let length = 0; length < frame.length; length += 7) {
      const socket = connect(served.address);
      socket.on("error", () => {});
      await new Promise<void>((resolve) => socket.write(frame.subarray(0, length), () => resolve()));
      socket.destroy();
    }
    await expectAlive(served);
  });

  it("answers when bytes come one by one, and when many messages come at once", async () => {
    const served = await serveUnix();
    const socket = connect(served.address);
    const pipe = new HandPeer(overSocket(socket));
    afterThis(() => socket.destroy());
    const frame = toFrame(JSON.stringify({ jsonrpc: "2.0", id: 900, method: "surface/hello", params: hello }));
    for (const byte of frame) socket.write(Buffer.of(byte));
    await pipe.next(({ id }) => id === 900);
    const asks = Array.from({ length: 300 }, (_, id) =>
      toFrame(JSON.stringify({ jsonrpc: "2.0", id, method: "surface/ask", params: say })),
    );
    socket.write(Buffer.concat(asks));
    await until(() => pipe.heard.length === 301);
    expect(new Set(pipe.heard.map(({ id }) => id)).size).toBe(301);
  });
});
