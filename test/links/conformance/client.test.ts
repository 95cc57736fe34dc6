import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { Connection } from "../../../src/links/link.ts";
import { unixSocket } from "../../../src/links/unix-socket.ts";
import { cell, procedure, stream } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { afterThis, listenRaw, newFolder } from "../unix/support.ts";
import { HandPeer, overSocket, toFrame, type WireMessage } from "./hand-peer.ts";

const shop = defineSurface("shop", {
  open: cell({ schema: z.object({ since: z.string(), by: z.string().optional() }) }),
  buy: procedure({ input: z.string(), output: z.string() }),
  till: stream({ output: z.number() }),
});

type Shop = Connection<(typeof shop)["members"]>;

/** Whatever a server does with a socket; every socket is cut when the test is over. */
async function serveRaw(take: (socket: Socket) => void): Promise<string> {
  const path = join(await newFolder(), "s");
  const server = createServer((socket) => {
    socket.on("error", () => {});
    afterThis(() => socket.destroy());
    take(socket);
  });
  await listenRaw(path, server);
  return path;
}

/** Answers one request: what is returned is sent with its id. */
type Answer = (message: WireMessage, peer: HandPeer) => object | undefined;

/** A server that answers requests as it is told to. */
async function serve(answer: Answer): Promise<string> {
  return serveRaw((socket) => {
    const peer = new HandPeer(overSocket(socket));
    const seen = new Set<WireMessage>();
    const look = async (): Promise<never> => {
      for (;;) {
        const message = await peer.next((one) => !seen.has(one));
        seen.add(message);
        const reply = message.method === undefined ? undefined : answer(message, peer);
        if (reply !== undefined) peer.send({ id: message.id, ...reply });
      }
    };
    void look();
  });
}

/** Says hello as a server does whose members are those that it is asked for, unless it says otherwise. */
function greeting(message: WireMessage, members: object = {}): object {
  return {
    result: {
      protocol: 1,
      surface: "shop",
      heartbeatMs: 5000,
      members: { ...(message.params?.["members"] as object), ...members },
    },
  };
}

/** A server that greets, and answers what follows as it is told to. */
function greetAnd(answer: Answer, members: object = {}): Promise<string> {
  return serve((message, peer) =>
    message.method === "surface/hello" ? greeting(message, members) : answer(message, peer),
  );
}

async function open(path: string): Promise<Shop> {
  const connection = await unixSocket(path).connect(shop);
  afterThis(() => connection.close());
  return connection;
}

const failed = (data: object): object => ({ error: { code: -32_000, message: "evil words", data } });

describe("unixSocket(), at a server that it does not know", () => {
  it.each([
    ["garbage, at once", (socket: Socket) => socket.write("\u0001\u0002garbage\r\n\r\n"), "PROTOCOL_MISMATCH"],
    [
      "a greeting of another protocol",
      (socket: Socket) => socket.write("220 mail.example ESMTP\r\n\r\n"),
      "PROTOCOL_MISMATCH",
    ],
    [
      "HTTP",
      (socket: Socket) => socket.on("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
      "PROTOCOL_MISMATCH",
    ],
    ["a huge frame", (socket: Socket) => socket.write(`Content-Length: ${1024 ** 3}\r\n\r\n`), "FRAME_TOO_LARGE"],
    ["an endless header", (socket: Socket) => socket.write("x".repeat(100_000)), "PROTOCOL_MISMATCH"],
    ["what is not JSON", (socket: Socket) => socket.write(toFrame("hello")), "PROTOCOL_MISMATCH"],
    ["half a frame and its end", (socket: Socket) => socket.end("Content-Length: 100\r\n\r\n{"), "UNAVAILABLE"],
    ["nothing but its end", (socket: Socket) => socket.end(), "UNAVAILABLE"],
    ["its end, with what was said unread", (socket: Socket) => setTimeout(() => socket.destroy(), 20), "UNAVAILABLE"],
  ])("rejects with a code when it sends %s", async (_what, act, code) => {
    const path = await serveRaw((socket) => void act(socket));
    await expect(unixSocket(path).connect(shop)).rejects.toMatchObject({ code });
  });

  it("rejects with UNAVAILABLE when it says nothing", async () => {
    const path = await serveRaw((socket) => void socket.resume());
    await expect(unixSocket(path).connect(shop)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it.each([
    ["that there is no such method", { error: { code: -32_601, message: "evil words" } }, "PROTOCOL_MISMATCH"],
    ["null", { result: null }, "PROTOCOL_MISMATCH"],
    ["another version", { result: { protocol: 2, surface: "shop", members: {} } }, "PROTOCOL_MISMATCH"],
    ["no members", { result: { protocol: 1, surface: "shop" } }, "PROTOCOL_MISMATCH"],
    ["another name", { result: { protocol: 1, surface: "bank", members: {} } }, "UNKNOWN_MEMBER"],
    ["that its version is another", failed({ kind: "surface", code: "PROTOCOL_MISMATCH" }), "PROTOCOL_MISMATCH"],
    ["that its name is another", failed({ kind: "surface", code: "UNKNOWN_MEMBER" }), "UNKNOWN_MEMBER"],
  ])("rejects, in words of its own, when hello is answered with %s", async (_what, answer, code) => {
    const path = await serve(() => answer);
    const connecting = unixSocket(path).connect(shop);
    await expect(connecting).rejects.toMatchObject({ code, message: expect.not.stringContaining("evil") });
  });
});

describe("unixSocket(), when it calls a procedure", () => {
  it("sends the caller that the call names, with a key, and nothing for an anonymous one", async () => {
    const sent: unknown[] = [];
    const path = await greetAnd(({ params }) => {
      sent.push(params);
      return { result: { value: "sold" } };
    });
    const { client } = await open(path);
    const caller = { id: "ada", isAnonymous: false, scopes: ["read"], claims: { tenant: "red" } };
    await client.buy.call("pen", { caller: Object.assign(caller, { token: "secret" }) });
    await client.buy.call("ink");
    await client.buy.call("ink", { caller: { id: "local", isAnonymous: true, scopes: [] } });
    const { token: _token, ...fields } = Object.assign({ token: "" }, caller);
    const buy = { verb: "call", member: "buy" };
    expect(sent).toEqual([
      { ...buy, argument: "pen", caller: { ...fields, key: expect.stringMatching(/^\[.*"ada"/) } },
      { ...buy, argument: "ink" },
      { ...buy, argument: "ink", caller: { id: "local", isAnonymous: true, scopes: [] } },
    ]);
  });
});

describe("unixSocket(), at a server of an older contract", () => {
  const older = { buy: { kind: "procedure", hash: "old" } };
  const shapes = (parts: object): object => ({ result: { members: { buy: { kind: "procedure", parts } } } });

  it("refuses the member that differs, with both shapes, and uses the others", async () => {
    const asked: string[] = [];
    const path = await greetAnd((message) => {
      asked.push(message.method ?? "");
      if (message.method === "surface/describe")
        return shapes({ argument: { type: "number" }, value: { type: "string" } });
      return { result: { value: { since: "dawn" } } };
    }, older);
    const { client } = await open(path);
    await expect(client.buy.call("pen")).rejects.toMatchObject({
      code: "CONTRACT_MISMATCH",
      message: expect.stringMatching(/"buy".*string.*number|"buy".*number.*string/s),
    });
    expect(await client.open.get()).toEqual({ since: "dawn" });
    expect(asked).toEqual(["surface/describe", "surface/ask"]);
  });

  it("uses a member whose answers have more fields, and drops those", async () => {
    const members = { open: { kind: "cell", hash: "new" } };
    const properties = { since: { type: "string" }, by: { type: "string" }, more: { type: "number" } };
    const value = { type: "object", properties, required: ["since", "more"] };
    const path = await greetAnd((message) => {
      if (message.method !== "surface/describe") return { result: { value: { since: "dawn", more: 1 } } };
      return { result: { members: { open: { kind: "cell", parts: { value } } } } };
    }, members);
    const { client } = await open(path);
    expect(await client.open.get()).toEqual({ since: "dawn" });
  });

  it.each([
    ["is not there", { buy: undefined }, "CONTRACT_MISMATCH"],
    ["is of another kind", { buy: { kind: "cell", hash: "a" } }, "CONTRACT_MISMATCH"],
    ["has no JSON form", { buy: { kind: "procedure", hash: null } }, "SCHEMA_UNSUPPORTED"],
    ["is no member at all", { buy: "yes" }, "CONTRACT_MISMATCH"],
  ])("refuses a member, and uses the others, when it %s", async (_what, members, code) => {
    const path = await greetAnd(() => ({ result: { value: { since: "dawn" } } }), members);
    const { client } = await open(path);
    await expect(client.buy.call("pen")).rejects.toMatchObject({ code });
    expect(await client.open.get()).toEqual({ since: "dawn" });
  });
});

describe("unixSocket(), at a server that answers strangely", () => {
  /** What a call comes to, and whether the connection can be used after it. */
  async function callAt(
    answer: Answer,
  ): Promise<{ call: Promise<string>; client: Shop["client"]; closed: Shop["closed"] }> {
    const path = await greetAnd((message, peer) => {
      if (message.params?.["member"] === "open") return { result: { value: { since: "dawn" } } };
      return message.method === "surface/ask" ? answer(message, peer) : undefined;
    });
    const { client, closed } = await open(path);
    const call = client.buy.call("pen");
    // Looked at later.
    call.catch(() => {});
    return { call, client, closed };
  }

  it.each([
    ["a value of another type", { result: { value: 1 } }, "INVALID_OUTPUT"],
    ["no value", { result: {} }, "INVALID_OUTPUT"],
    ["a result that is no part", { result: [1] }, "INVALID_OUTPUT"],
    ["an error of a code that is the client's own", failed({ kind: "surface", code: "DISCONNECTED" }), "INTERNAL"],
    ["that what it comes from was not there", failed({ kind: "surface", code: "UNAVAILABLE" }), "UNAVAILABLE"],
    ["that nobody knows", failed({ kind: "surface", code: "OUTCOME_UNKNOWN" }), "OUTCOME_UNKNOWN"],
    ["an error of an unknown code", failed({ kind: "surface", code: "EVIL" }), "INTERNAL"],
    ["an error without data", { error: { code: -32_000, message: "evil words" } }, "PROTOCOL_MISMATCH"],
    ["an error of another program", { error: { code: 5, message: "evil words" } }, "PROTOCOL_MISMATCH"],
    [
      "that it was not looked at, without goodbye",
      { error: { code: -32_001, message: "evil words" } },
      "PROTOCOL_MISMATCH",
    ],
    ["that it timed out", failed({ kind: "surface", code: "TIMEOUT" }), "TIMEOUT"],
  ])("rejects, in words of its own, and goes on, when it answers %s", async (_what, answer, code) => {
    const { call, client } = await callAt(() => answer);
    await expect(call).rejects.toMatchObject({ code, message: expect.not.stringContaining("evil") });
    expect(await client.open.get()).toEqual({ since: "dawn" });
  });

  it("hands on a refusal as it is", async () => {
    const refusal = { kind: "refusal", code: "SOLD_OUT", message: "no pens are left", details: { left: 0 } };
    const { call } = await callAt(() => failed(refusal));
    await expect(call).rejects.toMatchObject({
      name: "Refusal",
      code: "SOLD_OUT",
      message: "no pens are left",
      details: { left: 0 },
    });
  });

  it("takes the first answer, and goes on, when it answers twice, and to what was not asked", async () => {
    const { call, client } = await callAt((message, peer) => {
      peer.send({ id: 4711, result: { value: "a" } });
      peer.send({ id: "unknown", error: { code: 1, message: "a" } });
      peer.send({ id: message.id, result: { value: "first" } });
      peer.notify("surface/item", { stream: 4711, value: 1 });
      peer.notify("surface/progress", { token: 4711, value: 1 });
      peer.notify("surface/unknown", {});
      return { result: { value: "second" } };
    });
    expect(await call).toBe("first");
    expect(await client.open.get()).toEqual({ since: "dawn" });
  });

  it("ends, and loses what is under way, when it has answered twice before it breaks", async () => {
    const path = await greetAnd((message, peer) => {
      if (message.params?.["member"] !== "open") return undefined;
      peer.send({ id: message.id, result: {} });
      for (let time = 0; time < 500; time += 1) peer.send({ id: message.id, result: { value: { since: "dawn" } } });
      setTimeout(() => peer.pipe.cut(), 50);
      return undefined;
    });
    const { client, closed } = await open(path);
    const call = client.buy.call("pen");
    call.catch(() => {});
    await expect(client.open.get()).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
    await expect(call).rejects.toMatchObject({ code: "DISCONNECTED" });
    expect(await closed).toMatchObject({ kind: "lost" });
  });

  it("answers what it is asked: a sign of life, and nothing else", async () => {
    const heard: Promise<WireMessage>[] = [];
    const { call } = await callAt((_message, peer) => {
      peer.send({ id: "a", method: "surface/ping" });
      peer.send({ id: "b", method: "surface/ask", params: { verb: "call", member: "buy" } });
      heard.push(
        peer.next(({ id }) => id === "a"),
        peer.next(({ id }) => id === "b"),
      );
      return { result: { value: "done" } };
    });
    await call;
    expect(await Promise.all(heard)).toMatchObject([{ result: null }, { error: { code: -32_601 } }]);
  });

  it.each([
    ["breaks", (_message: WireMessage, peer: HandPeer) => peer.pipe.cut()],
    ["sends garbage", (_message: WireMessage, peer: HandPeer) => peer.pipe.send("garbage")],
    ["sends an answer without an id", (_message: WireMessage, peer: HandPeer) => peer.send({ id: null, result: 1 })],
    [
      "sends more than is allowed",
      (_message: WireMessage, peer: HandPeer) => peer.pipe.send(`"${"x".repeat(17_000_000)}"`),
    ],
  ])("loses what is under way, and refuses what follows, when it %s", async (_what, act) => {
    const { call, client, closed } = await callAt((message, peer) => {
      act(message, peer);
      return undefined;
    });
    await expect(call).rejects.toMatchObject({ code: "DISCONNECTED" });
    expect(await closed).toMatchObject({ kind: "lost" });
    await expect(client.open.get()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it("ends the connection when it sends items that it had no credit for", async () => {
    const path = await greetAnd(({ method, params }, peer) => {
      if (method !== "surface/follow") return undefined;
      const { stream: id, credit } = params as { stream: number; credit: number };
      for (let sent = 0; sent <= credit; sent += 1) peer.notify("surface/item", { stream: id, value: sent });
      return undefined;
    });
    const { client, closed } = await open(path);
    const iterate = async (): Promise<void> => {
      for await (const _ of client.till.open()) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await expect(iterate()).rejects.toMatchObject({ code: "DISCONNECTED" });
    expect(await closed).toMatchObject({ cause: { code: "PROTOCOL_MISMATCH" } });
  });

  it("hears a goodbye, says it in return, and still takes answers", async () => {
    const { call, client, closed } = await callAt((message, peer) => {
      peer.notify("surface/goodbye");
      void peer
        .next(({ method }) => method === "surface/goodbye")
        .then(() => {
          peer.send({ id: message.id, result: { value: "last" } });
          setTimeout(() => peer.pipe.cut(), 20);
        });
      return undefined;
    });
    expect(await call).toBe("last");
    await expect(client.open.get()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await closed).toMatchObject({ kind: "gone" });
  });
});
