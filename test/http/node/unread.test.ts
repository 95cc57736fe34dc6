import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { httpHandler } from "../../../src/http/http.ts";
import { createBudgets, type HttpBudgets } from "../../../src/http/budgets.ts";
import { type HttpOptions, resolveServerOptions } from "../../../src/http/options.ts";
import type { HttpReply, HttpRequest } from "../../../src/http/message.ts";
import { Connections } from "../../../src/http/node/connections.ts";
import { createNodeListener } from "../../../src/http/node/node-request.ts";
import { openServer, type OpenServer } from "../../../src/http/node/open-server.ts";
import { ManualClock } from "../../links/manual-clock.ts";
import { createDemo } from "../support/demo-app.ts";
import { modernPost } from "../support/modern-post.ts";
import { head, RawClient } from "./raw-client.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface Setup {
  readonly server: OpenServer;
  readonly client: RawClient;
  readonly replies: HttpReply[];
  readonly budgets: HttpBudgets;
  /** Sends so many requests in one piece; resolves once they have come. */
  readonly ask: (count: number) => Promise<void>;
}

async function setUp(options: HttpOptions = {}): Promise<Setup> {
  const replies: HttpReply[] = [];
  const resolved = resolveServerOptions(options);
  const budgets = createBudgets(resolved.limits, () => {});
  const server = await openServer((_request, reply) => void replies.push(reply), resolved, budgets);
  const client = new RawClient(server.port);
  closers.push(
    () => server.close(),
    () => client.socket.destroy(),
  );
  const ask = async (count: number): Promise<void> => {
    const before = replies.length;
    client.send(head("GET").repeat(count));
    while (replies.length < before + count) await delay(5);
  };
  return { server, client, replies, ask, budgets };
}

const mebibyte = "x".repeat(1024 * 1024);
/** More than the system takes for a client that reads nothing. */
const large = mebibyte.repeat(24);

/** Counts how often a time was started. */
class StartCounter extends ManualClock {
  starts = 0;

  override after(delayMs: number, run: () => void): () => void {
    this.starts += 1;
    return super.after(delayMs, run);
  }
}

describe("a JSON response over node:http", () => {
  it("is dropped with its connection when its client does not read it in time", async () => {
    const { server, client, replies, ask } = await setUp({ stallMs: 200 });
    client.socket.pause();
    await ask(1);
    replies[0]?.answer({ status: 200, body: large });
    await server.sent();
    client.socket.resume();
    expect((await client.closed()).length).toBeLessThan(large.length);
  });

  it("arrives whole when it is read slowly, for longer than that altogether", async () => {
    const clock = new StartCounter();
    const { unreadBytes: unread } = createBudgets(resolveServerOptions({}).limits, () => {});
    const connections = new Connections({ clock, stallMs: 1000, unread, delaysAnswers: true });
    const serve = (_request: HttpRequest, reply: HttpReply): void => reply.answer({ status: 200, body: large });
    const server = createServer(createNodeListener(serve, connections)).listen(0, "127.0.0.1");
    await once(server, "listening");
    // A server on a port has an address of this form.
    const client = new RawClient((server.address() as AddressInfo).port);
    closers.push(
      () => server.close(),
      () => client.socket.destroy(),
    );
    client.socket.pause();
    client.send(head("GET"));
    for (let pass = 0; pass < 6; pass += 1) {
      const before = clock.starts;
      // One piece at a time, until the system takes more and the time starts again.
      while (clock.starts === before && !client.socket.destroyed) {
        client.socket.resume();
        await Promise.race([once(client.socket, "data"), client.closed()]);
        client.socket.pause();
        await delay(1);
      }
      await clock.pass(900);
    }
    expect(client.socket.destroyed).toBe(false);
    client.socket.resume();
    while (client.heard.length < large.length) await once(client.socket, "data");
    expect(client.heard.slice(-2)).toBe("xx");
  });

  it("waits as long as needed for the answer to an earlier request", async () => {
    const { client, replies, ask } = await setUp({ stallMs: 100 });
    await ask(2);
    replies[1]?.answer({ status: 200, body: "second" });
    await delay(400);
    replies[0]?.answer({ status: 200, body: "first" });
    expect(await client.until("second")).toMatch(/first[^]*second/);
  });

  it("has its own time to be read once a slow answer before it is sent", async () => {
    const { server, client, replies, ask } = await setUp({ stallMs: 200 });
    client.socket.pause();
    await ask(2);
    replies[1]?.answer({ status: 200, body: large });
    await delay(300);
    replies[0]?.answer({ status: 200, body: "first" });
    await server.sent();
    client.socket.resume();
    expect((await client.closed()).length).toBeLessThan(large.length);
  });

  it("is dropped with the other answers of its connection when its caller has too many unread bytes", async () => {
    const { server, client, replies, ask, budgets } = await setUp();
    client.socket.pause();
    await ask(20);
    for (const reply of replies) reply.owner = "alice";
    // None can be read before the first.
    for (const reply of replies.slice(1)) reply.answer({ status: 200, body: mebibyte });
    // At once, so that nothing more is done for it in the same turn.
    expect(replies[0]?.isOver).toBe(true);
    await server.sent();
    client.socket.resume();
    expect(await client.closed()).toBe("");
    expect(budgets.unreadBytes.use).toEqual({ used: 0, limit: 64 * 1024 * 1024, refused: 0, evicted: 1 });
  });

  it("is dropped for the answer of another caller when it has not moved for longest", async () => {
    const limits = { unreadBytes: { total: 3 * large.length } };
    const { server, client: oldest, replies, budgets } = await setUp({ limits });
    const open = (): RawClient => new RawClient(server.port);
    const [slowest, third, newcomer] = [open(), open(), open()];
    const answer = async (client: RawClient): Promise<void> => {
      const before = replies.length;
      client.send(head("GET"));
      while (replies.length === before) await delay(5);
      replies[before]?.answer({ status: 200, body: large });
    };
    const whole = async (client: RawClient): Promise<void> => {
      client.socket.resume();
      while (client.heard.length < large.length) await once(client.socket, "data");
    };
    for (const client of [oldest, slowest, third]) client.socket.pause();
    for (const client of [oldest, slowest, third]) await answer(client);
    expect(budgets.unreadBytes.use).toMatchObject({ used: 3 * large.length, evicted: 0 });
    // Half of the oldest is read, so that the second has waited for longest.
    oldest.socket.resume();
    while (oldest.heard.length < large.length / 2) await once(oldest.socket, "data");
    oldest.socket.pause();
    await answer(newcomer);
    await whole(newcomer);
    expect(budgets.unreadBytes.use.evicted).toBe(1);
    slowest.socket.resume();
    expect((await slowest.closed()).length).toBeLessThan(large.length);
    await whole(oldest);
    for (const client of [third, newcomer]) client.socket.destroy();
  });

  it("counts no more once it was read", async () => {
    const { client, replies, ask, budgets } = await setUp();
    client.socket.pause();
    await ask(1);
    replies[0]?.answer({ status: 200, body: large });
    expect(budgets.unreadBytes.use.used).toBe(large.length);
    client.socket.resume();
    while (client.heard.length < large.length) await once(client.socket, "data");
    while (budgets.unreadBytes.use.used > 0) await delay(5);
  });

  it("counts as sent only when the system has all of it, for any size", async () => {
    const { server, client, replies, ask } = await setUp();
    client.socket.pause();
    await ask(1);
    replies[0]?.answer({ status: 200, body: large });
    const first = await Promise.race([server.sent().then(() => "sent"), delay(100, "waits")]);
    expect(first).toBe("waits");
    client.socket.resume();
    await server.sent();
    while (client.heard.length < large.length) await once(client.socket, "data");
  });
});

describe("an answer over node:http to a request that still arrives", () => {
  const begin = head("POST", "connection: close", "content-length: 8000000");

  it("is read by a client that sends on, and asked for the end of the connection", async () => {
    const { client, replies } = await setUp();
    client.socket.pause();
    client.send(begin, "x".repeat(4_000_000));
    while (replies.length === 0) await delay(5);
    replies[0]?.answer({ status: 413, body: "too large" });
    // As long as the server needs to close the connection, which resets it.
    await delay(100);
    client.send("x".repeat(4_000_000));
    client.socket.resume();
    expect(await client.closed()).toMatch(/^HTTP\/1.1 413 [^]*too large$/);
  });

  it("closes the connection of a client that sends no more", async () => {
    const { client, replies } = await setUp({ stallMs: 200 });
    client.send(begin, "x");
    while (replies.length === 0) await delay(5);
    replies[0]?.answer({ status: 415 });
    expect(await client.closed()).toMatch(/^HTTP\/1.1 415 /);
  });
});

describe("a connection over node:http", () => {
  it("is dropped, and runs nothing of the last packet, with more than 64 pipelined requests", async () => {
    const { client, replies, ask } = await setUp();
    await ask(64);
    expect(replies.every(({ isOver }) => !isOver)).toBe(true);
    client.send(head("GET").repeat(20));
    expect(await client.closed()).toBe("");
    expect(replies).toHaveLength(64);
    expect(replies.every(({ isOver }) => isOver)).toBe(true);
  });

  it("closes at once when the server leaves and no request has come", async () => {
    const { server, client, replies } = await setUp();
    await once(client.socket, "connect");
    // One that was opened later was served: the first has been taken by then.
    const other = new RawClient(server.port);
    closers.push(() => other.socket.destroy());
    other.send(head("GET"));
    while (replies.length === 0) await delay(5);
    server.leave();
    expect(await client.closed()).toBe("");
    replies[0]?.answer({ status: 200, body: "still answered" });
    expect(await other.closed()).toContain("still answered");
  });
});

describe("httpHandler().node", () => {
  it("neither answers nor throws when its framework has begun an answer", async () => {
    const demo = createDemo();
    const handler = httpHandler(demo.app);
    const faults: unknown[] = [];
    const onFault = (cause: unknown): void => void faults.push(cause);
    process.on("unhandledRejection", onFault);
    const server = createServer((request, response) => {
      setTimeout(() => response.writeHead(503).write("too late"), 100);
      handler.node(request, response);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(
      () => process.off("unhandledRejection", onFault),
      () => handler.close(),
      () => new Promise((resolve) => server.close(resolve)),
      () => server.closeAllConnections(),
    );
    // A server on a port has an address of this form.
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const leaving = new AbortController();
    const init = modernPost("tools/call", { name: "sleep", arguments: { ms: 300 } });
    const answer = await fetch(url, { ...init, signal: leaving.signal });
    expect(answer.status).toBe(503);
    while (demo.sleeping() > 0) await delay(10);
    await delay(50);
    expect(faults).toEqual([]);
    leaving.abort();
    expect(await answer.text().catch(() => "cut")).toBe("cut");
  });
});
