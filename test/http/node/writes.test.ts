import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createBudgets, resolveLimits } from "../../../src/http/budgets.ts";
import type { HttpServe } from "../../../src/http/message.ts";
import { Connections } from "../../../src/http/node/connections.ts";
import { createNodeListener } from "../../../src/http/node/node-request.ts";
import { openServer } from "../../../src/http/node/open-server.ts";
import { resolveServerOptions } from "../../../src/http/options.ts";
import { systemClock } from "../../../src/surface/system-clock.ts";
import { head, RawClient } from "./raw-client.ts";

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");

const clients: RawClient[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.socket.destroy();
});

const unread = createBudgets(resolveLimits(), () => {}).unreadBytes;

/** Opens a server with one connection, whose writes are counted. */
async function spied(serve: HttpServe) {
  const connections = new Connections({
    clock: systemClock,
    stallMs: 1000,
    unread,
    delaysAnswers: true,
  });
  const server = createServer(createNodeListener(serve, connections)).listen(0, "127.0.0.1");
  const accepted = once(server, "connection");
  await once(server, "listening");
  // A server on a port has an address of this form.
  const client = new RawClient((server.address() as AddressInfo).port);
  clients.push(client);
  // A server emits a connection with its socket.
  const [socket] = (await accepted) as [Socket];
  server.close();
  return { client, connections, writes: vi.spyOn(socket, "write") };
}

describe("an answer over node:http", () => {
  it.each(["plain", "é", ""])("writes head and body to the socket at once when the body is %j", async (body) => {
    const { client, writes } = await spied((_request, reply) => reply.answer({ status: 200, body }));
    for (let time = 1; time <= 2; time += 1) {
      client.send(head("GET"));
      while (
        client.heard.split("HTTP/1.1 200 OK").length <= time ||
        !client.heard.endsWith(`\r\n\r\n${latin1(body)}`)
      ) {
        await once(client.socket, "data");
      }
      expect(writes).toHaveBeenCalledTimes(time);
    }
  });

  it.each([
    [
      "at the end of the turn, and counts as unsent until then, when it is small and quick",
      { body: "x", tookMs: 0.9, counted: [0, 1] },
    ],
    ["at once when its handler was slow", { body: "x", tookMs: 1.1, counted: [1, 1] }],
    ["at once when it is large", { body: "x".repeat(16 * 1024 + 1), tookMs: 0, counted: [1, 1] }],
  ])("is written %s", async (_when, { body, tookMs, counted }) => {
    const now = vi.spyOn(performance, "now");
    const counts: number[] = [];
    const { client, connections, writes } = await spied((_request, reply) => {
      now.mockReturnValueOnce(performance.now() + tookMs);
      reply.answer({ status: 200, body });
      counts.push(writes.mock.calls.length);
      void connections.sent().then(() => counts.push(writes.mock.calls.length));
    });
    now.mockReturnValue(1);
    client.send(head("GET"));
    await client.until(body);
    await turn();
    now.mockRestore();
    expect(counts).toEqual(counted);
  });

  it("has begun when a handler that is mounted returns, as frameworks expect", async () => {
    const connections = new Connections({ clock: systemClock, stallMs: 1000, unread, delaysAnswers: false });
    const listener = createNodeListener((_request, reply) => reply.answer({ status: 200, body: "ours" }), connections);
    const server = createServer((request, response) => {
      listener(request, response);
      if (!response.headersSent) response.end("theirs");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    // A server on a port has an address of this form.
    const client = new RawClient((server.address() as AddressInfo).port);
    clients.push(client);
    client.send(head("GET"));
    await client.until("ours");
    expect(client.heard).not.toContain("theirs");
    server.close();
    await connections.sent();
  });

  it("is sent when bytes that are no HTTP come behind its request", async () => {
    const options = resolveServerOptions({});
    const serve: HttpServe = (_request, reply) => reply.answer({ status: 200, body: "ours" });
    const server = await openServer(
      serve,
      options,
      createBudgets(resolveLimits(), () => {}),
    );
    const client = new RawClient(server.port);
    clients.push(client);
    client.send(`${head("GET")}%%% nonsense\r\n\r\n`);
    await client.until("ours");
    expect(client.heard).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    await server.close();
  });
});
