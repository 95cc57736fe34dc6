import { EventEmitter, once } from "node:events";
import { Server } from "node:net";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { EventSink, HttpReply, HttpRequest, HttpServe } from "../../../src/http/message.ts";
import { openServer, stopListening, type OpenServer } from "../../../src/http/node/open-server.ts";
import { createBudgets, type HttpBudgets, resolveLimits } from "../../../src/http/budgets.ts";
import { type HttpOptions, resolveServerOptions } from "../../../src/http/options.ts";
import { atEndOfTest } from "../../setup/end-of-test.ts";
import { readBody } from "../support/read-body.ts";
import { head, RawClient } from "./raw-client.ts";

const budgets = (options: HttpOptions = {}): HttpBudgets => createBudgets(resolveLimits(options.limits), () => {});

const servers: OpenServer[] = [];
const clients: RawClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  for (const server of servers.splice(0)) await server.close();
});

async function open(serve: HttpServe, options: HttpOptions = {}): Promise<RawClient & { readonly server: OpenServer }> {
  const server = await openServer(serve, resolveServerOptions(options), budgets(options));
  servers.push(server);
  return Object.assign(connect(server.port), { server });
}

function connect(port: number): RawClient {
  const client = new RawClient(port);
  clients.push(client);
  return client;
}

const echo: HttpServe = (request, reply) =>
  request.body(64, (body) =>
    reply.answer({ status: 200, body: typeof body === "string" ? body : Buffer.from(body).toString() }),
  );

const filler = "x".repeat(8192);

/** Writes until neither the other side nor the system takes any more. */
async function fill(sink: EventSink): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) {
    if (!sink.isFull) turns = 0;
    while (!sink.isFull) sink.write(filler);
    await turn();
  }
}

describe("a request over node:http", () => {
  it("gets the extra headers of its reply in a JSON response, without a body and in a stream", async () => {
    const client = await open((request, reply) => {
      reply.extraHeaders = { vary: "origin" };
      if (request.target === "/stream") reply.stream({ "content-type": "text/event-stream", vary: "x" }).end();
      else reply.answer(request.target === "/piece" ? { status: 200, body: "piece" } : { status: 204 });
    });
    const requests = ["/none", "/piece", "/stream"].map((target) => `GET ${target} HTTP/1.1\r\nhost: a\r\n\r\n`);
    client.send(...requests);
    const heard = (await client.until("0\r\n\r\n")).toLowerCase();
    expect(heard.match(/vary: \w+/g)).toEqual(["vary: origin", "vary: origin", "vary: origin"]);
  });

  it("returns every header as it was sent, and its count, for names that differ in case", async () => {
    const seen: unknown[] = [];
    const client = await open((request, reply) => {
      seen.push(request.method, request.target, request.count("host"), request.header("host"));
      seen.push(request.header("content-type"), request.header("authorization"), request.count("x-none"));
      reply.answer({ status: 204 });
    });
    const twice = ["Content-Type: a", "CONTENT-TYPE: b", "authorization: 1", "Authorization: 2"];
    client.send(["GET /mcp/%2e%2e?q=1 HTTP/1.1", "Host: one", "hOST: two", ...twice, "", ""].join("\r\n"));
    expect(await client.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 204 /);
    expect(client.heard).not.toContain("content-length");
    expect(seen).toEqual(["GET", "/mcp/%2e%2e?q=1", 2, "one, two", "a, b", "1, 2", 0]);
  });

  it("has its whole body when it comes in pieces", async () => {
    const client = await open(echo);
    client.send(head("POST", "content-length: 10"), "hel");
    await delay(10);
    client.send("lo");
    client.send("12345");
    expect(await client.until("12345")).toContain("content-length: 10\r\n");
  });

  it.each([
    ["announced", ["content-length: 65"], ""],
    ["sent in pieces", ["transfer-encoding: chunked"], `41\r\n${"y".repeat(65)}\r\n`],
  ])("is too large at once when the bytes beyond its bound are %s", async (_how, headers, body) => {
    const client = await open(echo);
    client.send(head("POST", ...headers), body);
    expect(await client.until("too-large")).toContain("HTTP/1.1 200 ");
  });

  it("keeps the connection usable when a body is too large and was skipped", async () => {
    const client = await open(echo);
    client.send(head("POST", "content-length: 100"));
    await client.until("too-large");
    client.socket.write("z".repeat(100));
    client.socket.write(`${head("POST", "content-length: 4")}next`);
    expect(await client.until("next")).toMatch(/too-large[^]*next$/);
  });

  it("settles its body as gone when the client leaves in the middle of it", async () => {
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let settle = (_body: unknown): void => {};
    const body = new Promise<unknown>((resolve) => (settle = resolve));
    const client = await open((request) => {
      request.body(64, settle);
      begin();
    });
    client.send(head("POST", "content-length: 10"), "hal");
    await begun;
    await delay(20);
    client.socket.destroy();
    expect(await body).toBe("gone");
  });

  it('with "Expect: 100-continue" gets 100 when its body is read', async () => {
    const client = await open(echo);
    client.send(head("POST", "content-length: 2", "expect: 100-continue"));
    await client.until("HTTP/1.1 100 Continue\r\n\r\n");
    client.socket.write("ok");
    expect(await client.until("ok")).toContain("HTTP/1.1 200 ");
  });

  it('with "Expect: 100-continue" is refused without 100, and the connection closed, when its body is not read', async () => {
    const client = await open((_request, reply) => reply.answer({ status: 415 }));
    client.send(head("POST", "content-length: 2", "expect: 100-continue"));
    const heard = await client.closed();
    expect(heard).toMatch(/^HTTP\/1\.1 415 /);
    expect(heard.toLowerCase()).toContain("connection: close");
  });
});

/** Serves requests by hand, in the order in which they come. */
async function held(options: HttpOptions = {}): Promise<{
  readonly client: RawClient;
  readonly server: OpenServer;
  readonly next: () => Promise<{ request: HttpRequest; reply: HttpReply }>;
}> {
  const came: { request: HttpRequest; reply: HttpReply }[] = [];
  let wake: () => void = () => {};
  const client = await open((request, reply) => {
    came.push({ request, reply });
    wake();
  }, options);
  return {
    client,
    server: client.server,
    next: async () => {
      for (;;) {
        const one = came.shift();
        if (one !== undefined) return one;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

async function goneOf(reply: HttpReply): Promise<boolean> {
  if (!reply.isOver) await new Promise<void>((resolve) => (reply.onGone = resolve));
  return reply.isOver;
}

describe("a reply over node:http", () => {
  it("sends only the first answer", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    const { reply } = await next();
    expect(reply.isOver).toBe(false);
    reply.answer({ status: 200, headers: { "x-a": "1" }, body: "é" });
    reply.answer({ status: 500, body: "again" });
    reply.stream({}).write("again");
    expect(reply.isOver).toBe(true);
    expect(await client.until("Ã©")).toContain("content-length: 2\r\n");
    expect(client.heard).not.toContain("again");
  });

  it("reports once that its client is gone when the connection closes before the answer", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    const { reply } = await next();
    let told = 0;
    reply.onGone = () => void (told += 1);
    client.socket.destroy();
    await once(client.socket, "close");
    await delay(50);
    reply.answer({ status: 200 });
    reply.stream({}).write("x");
    await delay(20);
    expect(told).toBe(1);
  });

  it("reports nothing when the connection closes after the answer", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    const { reply } = await next();
    let told = 0;
    reply.onGone = () => void (told += 1);
    reply.answer({ status: 200, body: "bye" });
    await client.until("bye");
    client.socket.destroy();
    await delay(30);
    expect(told).toBe(0);
  });

  it("reports that its client is gone while it waits behind another on the same connection", async () => {
    const { client, next } = await held();
    client.send(head("GET"), head("GET"));
    const [first, second] = [await next(), await next()];
    client.socket.destroy();
    expect(await Promise.all([goneOf(first.reply), goneOf(second.reply)])).toEqual([true, true]);
  });

  it("is sent in order when a later one on the same connection is ready first", async () => {
    const { client, next } = await held();
    client.send(head("GET"), head("GET"));
    const [first, second] = [await next(), await next()];
    second.reply.answer({ status: 200, body: "second" });
    first.reply.answer({ status: 200, body: "first" });
    expect(await client.until("second")).toMatch(/first[^]*second/);
  });
});

describe("a stream of events over node:http", () => {
  it("shows its head at once when nothing is written to it", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    (await next()).reply.stream({ "content-type": "text/event-stream" });
    expect(await client.until("\r\n\r\n")).toContain("content-type: text/event-stream");
  });

  it("ends the answer, and takes no more, when it is ended", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    const { reply } = await next();
    const sink = reply.stream({});
    sink.write("one");
    expect(reply.isOver).toBe(false);
    sink.end();
    sink.end();
    sink.write("two");
    expect(reply.isOver).toBe(true);
    expect(await client.until("0\r\n\r\n")).not.toContain("two");
    client.send(head("GET"));
    (await next()).reply.answer({ status: 200, body: "kept" });
    await client.until("kept");
  });

  it("is full, and says when it is not any more, when its client reads late", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    const { reply } = await next();
    client.socket.pause();
    const sink = reply.stream({});
    await fill(sink);
    expect(sink.isFull).toBe(true);
    const drained = new Promise<void>((resolve) => (sink.onDrain = resolve));
    client.socket.resume();
    await drained;
    expect(sink.isFull).toBe(false);
  });

  it("says that it is not full any more when it was ended and is read to its end", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    const { reply } = await next();
    client.socket.pause();
    const sink = reply.stream({});
    await fill(sink);
    const drained = new Promise<void>((resolve) => (sink.onDrain = resolve));
    sink.end();
    client.socket.resume();
    await drained;
    expect(sink.isFull).toBe(false);
  });

  it("closes the connection without a report when it is dropped", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    const { reply } = await next();
    let told = 0;
    reply.onGone = () => void (told += 1);
    const sink = reply.stream({});
    sink.write("one");
    await client.until("one");
    sink.destroy();
    sink.write("two");
    expect(await client.closed()).not.toContain("two");
    expect(told).toBe(0);
  });

  it("closes the connection when it was ended, is not read, and is dropped", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    const { reply } = await next();
    client.socket.pause();
    const sink = reply.stream({});
    await fill(sink);
    sink.end();
    sink.destroy();
    client.socket.resume();
    expect(await client.closed()).not.toContain("0\r\n\r\n");
  });

  it("keeps the next request on the connection when it was read to its end and is dropped", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    const sink = (await next()).reply.stream({});
    sink.end();
    await client.until("0\r\n\r\n");
    client.send(head("GET"));
    const { reply } = await next();
    sink.destroy();
    reply.answer({ status: 200, body: "unharmed" });
    expect(await client.until("unharmed")).toContain("HTTP/1.1 200 ");
  });

  it("reports that its client is gone when the connection closes before its end", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    const { reply } = await next();
    const sink = reply.stream({});
    sink.write("one");
    await client.until("one");
    client.socket.destroy();
    expect(await goneOf(reply)).toBe(true);
    sink.write("two");
    sink.end();
    sink.destroy();
  });
});

describe("a server of node:http", () => {
  it.each([
    ["no HTTP", "nonsense\r\n\r\n", 400],
    ["a head that is too large", `GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`, 431],
    ["two lengths", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", 400],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      400,
    ],
  ])("refuses %s without quoting it, and closes the connection", async (_what, text, status) => {
    const client = await open((_request, reply) => reply.answer({ status: 200 }));
    client.socket.write(text);
    const heard = await client.closed();
    expect(heard).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(heard).toMatch(/content-length: 0\r\n\r\n$/);
  });

  it("refuses a head that does not come in time with 408 when the time is over", async () => {
    const client = await open(echo, { headersTimeoutMs: 100, requestTimeoutMs: 200 });
    client.socket.write("POST /mcp HTTP/1.1\r\nhost: a\r\n");
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it.each([
    ["while it is read", (request: HttpRequest) => readBody(request, 64)],
    ["before it is read", async (request: HttpRequest) => (await delay(250), readBody(request, 64))],
  ])("sends the answer for a late body, and closes the connection, %s", async (_when, read) => {
    const client = await open(
      (request, reply) => void read(request).then((body) => reply.answer({ status: 408, body: `${String(body)}!` })),
      { headersTimeoutMs: 100, requestTimeoutMs: 200 },
    );
    client.send(head("POST", "content-length: 10"), "slow");
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 408 [^]*connection: close[^]*\r\n\r\ngone!$/i);
  });

  it.each([
    ["does not come", ["content-length: 10"], "slow"],
    ["is no HTTP", ["transfer-encoding: chunked"], "4\r\nslow\r\nnonsense\r\n"],
  ])(
    "drops the connection without a second answer when the rest of a body %s after its answer",
    async (_what, headers, body) => {
      const client = await open((_request, reply) => reply.answer({ status: 200, body: "early" }), {
        headersTimeoutMs: 100,
        requestTimeoutMs: 200,
      });
      client.send(head("POST", ...headers));
      await client.until("early");
      client.send(body);
      expect((await client.closed()).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
    },
  );

  it("answers with 400 when bytes after an early answer are no HTTP", async () => {
    const client = await open((_request, reply) => reply.answer({ status: 200, body: "early" }));
    client.send(head("POST", "content-length: 4"));
    await client.until("early");
    client.send("body", "nonsense\r\n\r\n");
    expect((await client.closed()).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
  });

  it("answers a late body behind the answers before it on its connection", async () => {
    const { client, next } = await held({ headersTimeoutMs: 100, requestTimeoutMs: 200 });
    client.send(head("GET"), head("POST", "content-length: 10"), "slow");
    const first = await next();
    const second = await next();
    const read = await readBody(second.request, 64);
    second.reply.answer({ status: 408, body: `${String(read)}!` });
    first.reply.answer({ status: 200, body: "first" });
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 200 [^]*firstHTTP\/1\.1 408 [^]*gone!$/);
  });

  it("writes no refusal into a running answer when the next bytes are no HTTP", async () => {
    const { client, next } = await held();
    client.send(head("GET"));
    const { reply } = await next();
    client.socket.write("nonsense\r\n\r\n");
    expect(await client.closed()).toBe("");
    expect(await goneOf(reply)).toBe(true);
  });

  it("takes no more connections than it may when more come", async () => {
    const { client, server, next } = await held({ limits: { connections: { total: 1 } } });
    client.send(head("GET"));
    await next();
    const other = connect(server.port);
    other.send(head("GET"));
    expect(await other.closed()).toBe("");
  });

  it("serves on, and closes, when the system refuses it a connection", async () => {
    const listen = vi.spyOn(Server.prototype, "listen");
    atEndOfTest(() => listen.mockRestore());
    const client = await open(echo);
    for (const server of listen.mock.contexts) if (server instanceof Server) server.emit("error", new Error("EMFILE"));
    // Node reports a rejected promise without a listener at the end of the turn, which fails the run.
    await turn();
    client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    expect(await client.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 /);
    await client.server.close();
  });

  it("drops the oldest silent connection for a new one", async () => {
    const silent = await open(echo, { limits: { connections: { total: 1 } } });
    await once(silent.socket, "connect");
    const other = connect(silent.server.port);
    other.send(head("POST", "content-length: 5"), "hello");
    expect(await other.until("hello")).toContain("200");
    expect(await silent.closed()).toBe("");
  });

  it("drops silent connections before one that had a request", async () => {
    const used = await open(echo, { limits: { connections: { total: 3 } } });
    const { port } = used.server;
    used.send(head("POST", "content-length: 5"), "first");
    await used.until("first");
    const silent = [connect(port), connect(port)];
    for (const each of silent) await once(each.socket, "connect");
    const other = connect(port);
    other.send(head("POST", "content-length: 5"), "other");
    expect(await other.until("other")).toContain("200");
    used.send(head("POST", "content-length: 5"), "again");
    expect(await used.until("again")).toContain("first");
    expect(await silent[0]?.closed()).toBe("");
  });

  it("drops the connection with the oldest last request when none is silent", async () => {
    const used = await open(echo, { limits: { connections: { total: 2 } } });
    const idle = connect(used.server.port);
    for (const [client, body] of [
      [used, "first"],
      [idle, "first"],
      [used, "again"],
    ] as const) {
      client.send(head("POST", "content-length: 5"), body);
      await client.until(body);
    }
    const other = connect(used.server.port);
    other.send(head("POST", "content-length: 5"), "other");
    expect(await other.until("other")).toContain("200");
    expect(await idle.closed()).toContain("first");
    expect(used.socket.destroyed).toBe(false);
  });

  it("drops a connection whose body still arrives rather than refuse a new one", async () => {
    const { client, server, next } = await held({ limits: { connections: { total: 1 } } });
    client.send(head("POST", "content-length: 10"), "slow");
    (await next()).request.body(64, () => {});
    const other = connect(server.port);
    other.send(head("GET"));
    (await next()).reply.answer({ status: 200, body: "served" });
    expect(await other.until("served")).toContain("200");
    expect(await client.closed()).toBe("");
  });

  it("drops no connection of another address for an address at its limit", async () => {
    const used = await open(echo, { limits: { connections: { total: 3, perCaller: 2 } } });
    const { port } = used.server;
    used.send(head("POST", "content-length: 5"), "first");
    await used.until("first");
    const [first, second, third] = [1, 2, 3].map(() => {
      const client = new RawClient(port, "127.0.0.1", "127.0.0.2");
      clients.push(client);
      return client;
    });
    expect(await first?.closed()).toBe("");
    third?.send(head("POST", "content-length: 5"), "third");
    expect(await third?.until("third")).toContain("200");
    expect([used.socket.destroyed, second?.socket.destroyed]).toEqual([false, false]);
  });

  it("closes idle connections, answers running requests, and accepts nothing new when it leaves", async () => {
    const { client, server, next } = await held();
    const idle = connect(server.port);
    idle.send(head("GET"));
    (await next()).reply.answer({ status: 200, body: "idle now" });
    await idle.until("idle now");
    client.send(head("GET"));
    const { reply } = await next();
    server.leave();
    await idle.closed();
    const late = connect(server.port);
    const [refused] = await once(late.socket, "error");
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
    reply.answer({ status: 200, body: "answered" });
    expect(await client.closed()).toContain("answered");
    expect(client.heard.toLowerCase()).toContain("connection: close");
  });

  it("closes the listener of a server that extends no net.Server by its own method", () => {
    // As on Bun, where methods of net.Server fail on a server of node:http.
    const foreign = Object.assign(new EventEmitter(), { closed: 0, close: () => void (foreign.closed += 1) });
    stopListening(foreign);
    expect(foreign.closed).toBe(1);
  });

  it("rejects with SOCKET_IN_USE when another server has the port", async () => {
    const { server } = await held();
    const taken = openServer(echo, resolveServerOptions({ port: server.port }), budgets());
    await expect(taken).rejects.toMatchObject({ code: "SOCKET_IN_USE" });
  });

  it("rejects with UNAVAILABLE when the system knows no such address", async () => {
    const options = { ...resolveServerOptions({}), host: "192.0.2.1" };
    await expect(openServer(echo, options, budgets())).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});
