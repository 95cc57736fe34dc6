import { once } from "node:events";
import { createServer as createHttpServer, get, type IncomingMessage } from "node:http";
import { connect, createServer, type AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer, type ClientOptions } from "ws";
import type { WebListening } from "../../../src/links/listening.ts";
import { maxFrameBytes } from "../../../src/links/transport/base-transport.ts";
import { listenWebSocket, webSocket, type ListenWebSocketOptions } from "../../../src/links/web-socket.ts";
import { echo, startEcho, type LiveEcho } from "../support/echo-surface.ts";
import { until } from "../transport/support.ts";
import { afterThis } from "../unix/support.ts";

async function serveEcho(options: Partial<ListenWebSocketOptions> = {}): Promise<WebListening & { echo: LiveEcho }> {
  const started = startEcho();
  afterThis(() => started.live.close());
  const listening = await listenWebSocket(started.live, { port: 0, ...options });
  return { ...listening, echo: started };
}

/** What a client of its own gets for an opening request: 101, or the status of the refusal. */
function statusOf(url: string, options: ClientOptions = {}): Promise<number | undefined> {
  const socket = new WebSocket(url, options);
  socket.on("error", () => {});
  afterThis(() => socket.terminate());
  return new Promise((resolve) => {
    socket.once("upgrade", (response) => resolve(response.statusCode));
    socket.once("unexpected-response", (_request, response) => resolve(response.statusCode));
  });
}

/** A client of its own, open. */
async function dial(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  socket.on("error", () => {});
  afterThis(() => socket.terminate());
  await once(socket, "open");
  return socket;
}

describe("listenWebSocket() and webSocket()", () => {
  it("carry every kind of use when they are connected", async () => {
    const { url, port, echo: served } = await serveEcho();
    expect(url).toBe(`ws://127.0.0.1:${port}/`);
    const connection = await webSocket(url).connect(echo);
    const { client } = connection;
    expect(await client.say.call("żółw 🐢")).toBe("żółw 🐢");
    expect(await client.count.get()).toBe(1);
    const numbers = client.numbers.open()[Symbol.asyncIterator]();
    expect([await numbers.next(), await numbers.next()].map(({ value }) => value)).toEqual([1, 2]);
    await numbers.return?.();
    const call = client.wait.call();
    await until(() => served.waiting() === 1);
    served.release();
    expect(await call).toBe("released");
    await connection.close();
    expect(await connection.closed).toEqual({ kind: "closed" });
  });

  it("refuse one answer, and carry the next, when the first is too large", async () => {
    const { url } = await serveEcho();
    const { client } = await webSocket(url).connect(echo);
    await expect(client.blow.call(maxFrameBytes)).rejects.toMatchObject({ code: "FRAME_TOO_LARGE" });
    await expect(client.say.call("x".repeat(maxFrameBytes))).rejects.toMatchObject({ code: "FRAME_TOO_LARGE" });
    expect((await client.blow.call(maxFrameBytes - 1000)).length).toBe(maxFrameBytes - 1000);
    expect(await client.say.call("hello")).toBe("hello");
  });

  it("say goodbye when the listener or the live surface closes", async () => {
    const first = await serveEcho();
    const connection = await webSocket(first.url).connect(echo);
    await first.close();
    await first.closed;
    expect(await connection.closed).toEqual({ kind: "gone" });
    const second = await listenWebSocket(first.echo.live, { port: 0 });
    const again = await webSocket(second.url).connect(echo);
    await first.echo.live.close();
    await second.closed;
    expect(await again.closed).toEqual({ kind: "gone" });
    await expect(webSocket(second.url).connect(echo)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it("tell a loss when the far side breaks", async () => {
    const { port, echo: served } = await serveEcho();
    const cuts: (() => void)[] = [];
    const bridge = createServer((near) => {
      const far = connect(port, "127.0.0.1");
      near
        .on("error", () => {})
        .pipe(far.on("error", () => {}))
        .pipe(near);
      cuts.push(() => [near, far].forEach((socket) => socket.destroy()));
    });
    bridge.listen(0, "127.0.0.1");
    await once(bridge, "listening");
    afterThis(() => bridge.close());
    const connection = await webSocket(`ws://127.0.0.1:${(bridge.address() as AddressInfo).port}/`).connect(echo);
    const call = connection.client.wait.call();
    void until(() => served.waiting() === 1).then(() => cuts.forEach((cut) => cut()));
    await expect(call).rejects.toMatchObject({ code: "DISCONNECTED" });
    expect(await connection.closed).toMatchObject({ kind: "lost", cause: { code: "DISCONNECTED" } });
    await until(() => served.aborted() === 1);
  });

  it("hold back what is sent when the far side does not read", async () => {
    const { url } = await serveEcho();
    const connection = await webSocket(url).connect(echo);
    const seen: number[] = [];
    for await (const number of connection.client.numbers.open()) {
      seen.push(number);
      if (seen.length === 500) break;
    }
    expect(seen).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
  });
});

describe("listenWebSocket()", () => {
  it.each([
    ["from a page", { origin: "https://evil.example" }, 403],
    ["from a page without an origin to name", { origin: "null" }, 403],
    ["from a page that is allowed", { origin: "https://good.example" }, 101],
    ["under a foreign name", { headers: { Host: "evil.example" } }, 403],
    ["under a foreign name with a port", { headers: { Host: "evil.example:80" } }, 403],
    ["under a name that only begins well", { headers: { Host: "localhost.evil.example" } }, 403],
    ["under what is no name", { headers: { Host: "[evil" } }, 403],
    ["under a loopback name", { headers: { Host: "localhost:1" } }, 101],
    ["under another loopback name", { headers: { Host: "[::1]" } }, 101],
    ["under a name that is allowed", { headers: { Host: "MY.box:4000" } }, 101],
  ])("answers as it should when a request comes %s", async (_what, options, status) => {
    const { url } = await serveEcho({ origins: ["https://good.example"], hosts: ["my.box"] });
    expect(await statusOf(url, options)).toBe(status);
  });

  it("answers 404 when a request names another path", async () => {
    const { url } = await serveEcho({ path: "/surface" });
    expect(await statusOf(url)).toBe(101);
    expect(await statusOf(`${url}?a=1`)).toBe(101);
    expect(await statusOf(`${url}/`)).toBe(404);
    expect(await statusOf(new URL("/", url).href)).toBe(404);
  });

  it("answers 401 when a request does not know the token", async () => {
    const { url } = await serveEcho({ token: "s3cret" });
    const withToken = (value: string): ClientOptions => ({ headers: { Authorization: value } });
    expect(await statusOf(url)).toBe(401);
    expect(await statusOf(url, withToken("Bearer s3cre"))).toBe(401);
    expect(await statusOf(url, withToken("s3cret"))).toBe(401);
    expect(await statusOf(`${url}?token=s3cret`)).toBe(401);
    expect(await statusOf(url, withToken("Bearer s3cret"))).toBe(101);
    const connection = await webSocket(url, { token: "s3cret" }).connect(echo);
    expect(await connection.client.say.call("hello")).toBe("hello");
    await expect(webSocket(url, { token: "other" }).connect(echo)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("401"),
    });
  });

  it("answers 426 when a request asks for no web socket", async () => {
    const { port } = await serveEcho();
    const [response]: IncomingMessage[] = (await once(
      get(`http://127.0.0.1:${port}/`),
      "response",
    )) as IncomingMessage[];
    expect(response?.resume().statusCode).toBe(426);
  });

  it.each([
    ["binary", (socket: WebSocket) => socket.send(Buffer.from("{}"))],
    ["no JSON", (socket: WebSocket) => socket.send("{")],
    ["no message", (socket: WebSocket) => socket.send("[]")],
    ["more than is allowed", (socket: WebSocket) => socket.send("x".repeat(maxFrameBytes + 1))],
  ])("ends a connection, and no other, when its peer sends what is %s", async (_what, send) => {
    const { url } = await serveEcho();
    const connection = await webSocket(url).connect(echo);
    const socket = await dial(url);
    send(socket);
    await once(socket, "close");
    expect(await connection.client.say.call("hello")).toBe("hello");
  });

  it("answers no compression when a client asks for it", async () => {
    const { url } = await serveEcho();
    const socket = await dial(url);
    expect(socket.extensions).toBe("");
  });

  it.each([
    { port: 0, host: "0.0.0.0" },
    { port: 0, host: "" },
    { port: 0, host: "::" },
    { port: -1 },
    { port: 65_536 },
    { port: 1.5 },
    { port: 0, path: "surface" },
    { port: 0, path: "/a?b" },
    { port: 0, token: "" },
  ])("refuses $host $port $path when it is told so", async (options) => {
    const { live } = startEcho();
    await expect(listenWebSocket(live, options)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    await live.close();
  });

  it("listens where others reach it when it has a token", async () => {
    const { port } = await serveEcho({ host: "0.0.0.0", token: "s3cret" });
    const { client } = await webSocket(`ws://127.0.0.1:${port}/`, { token: "s3cret" }).connect(echo);
    expect(await client.say.call("hello")).toBe("hello");
  });

  it("rejects with SOCKET_IN_USE when another listens there", async () => {
    const { port, echo: served } = await serveEcho();
    await expect(listenWebSocket(served.live, { port })).rejects.toMatchObject({ code: "SOCKET_IN_USE" });
  });
});

describe("webSocket()", () => {
  it.each(["http://127.0.0.1/", "127.0.0.1:80", "ws://", "ws://a/#b", ""])("refuses %j when it is made", (url) => {
    expect(() => webSocket(url)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });

  it("connect() rejects with UNAVAILABLE when nobody listens, or something else does", async () => {
    const server = createHttpServer((_request, response) => response.end("hello"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await expect(webSocket(url).connect(echo)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    server.close();
    await once(server, "close");
    await expect(webSocket(url).connect(echo)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it("connect() ends at once, and lets go, when its signal fires", async () => {
    const sockets: import("node:net").Socket[] = [];
    const server = createServer((socket) => sockets.push(socket.on("error", () => {}).resume()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    afterThis(() => server.close());
    const abort = new AbortController();
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    void until(() => sockets.length === 1).then(() => abort.abort());
    await expect(webSocket(url).connect(echo, { signal: abort.signal })).rejects.toMatchObject({ code: "ABORTED" });
    await until(() => sockets[0]?.closed === true);
    await expect(webSocket(url).connect(echo, { signal: abort.signal })).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("sends its headers when it connects, and rejects with PROTOCOL_MISMATCH when what answers is garbage", async () => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    afterThis(() => server.close());
    let seen: unknown;
    server.on("connection", (socket, request) => {
      seen = request.headers["x-a"];
      socket.send("garbage");
    });
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const connecting = webSocket(url, { headers: { "x-a": "b" } }).connect(echo);
    await expect(connecting).rejects.toMatchObject({ code: "PROTOCOL_MISMATCH" });
    expect(seen).toBe("b");
  });

  it("serve clients that show the token while 300 connections are silent and 300 have not said who they are", async () => {
    const token = "s3cret";
    const { url, port, stats } = await serveEcho({ token });
    const silent = (): void => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      afterThis(() => socket.destroy());
    };
    const headers = { authorization: `Bearer ${token}` };
    for (let at = 0; at < 300; at += 1) {
      silent();
      // Upgraded, and silent from then on.
      const socket = new WebSocket(url, { headers });
      socket.on("error", () => {});
      afterThis(() => socket.terminate());
    }
    const connections = await Promise.all(Array.from({ length: 20 }, () => webSocket(url, { token }).connect(echo)));
    for (let at = 0; at < 300; at += 1) silent();
    await until(() => stats().limits.handshakes.evicted > 40);
    const answers = await Promise.all(connections.map(({ client }) => client.say.call("honest")));
    expect(answers).toEqual(Array.from({ length: 20 }, () => "honest"));
    const { peers, handshakes } = stats().limits;
    expect(peers).toMatchObject({ limit: 256, refused: 0 });
    expect(Math.max(peers.used, handshakes.used)).toBeLessThanOrEqual(256);
    for (const connection of connections) await connection.close();
  });

  it.each([{ peers: { total: 0 } }, { bytes: {} }, { peers: { perPeer: 2 } }, { unreadBytes: { total: 1.5 } }])(
    "refuse limits that are none, such as %o",
    async (limits) => {
      const { live } = startEcho();
      afterThis(() => live.close());
      // What a program in plain JavaScript may say.
      const options = { port: 0, limits } as ListenWebSocketOptions;
      await expect(listenWebSocket(live, options)).rejects.toMatchObject({ code: "INVALID_OPTION" });
    },
  );
});
