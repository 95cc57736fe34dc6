import { createServer, type RequestListener, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { eras, questions } from "../../bench/driver/requests.ts";
import { Watchers } from "../../bench/http/fan-out.ts";
import { openAll, openClient } from "../../bench/http/http-client.ts";
import { HttpConnection, readMessage } from "../../bench/http/http-connection.ts";
import { type HttpProcess, startHttp } from "../../bench/http/http-process.ts";
import { firstId, toPost } from "../../bench/http/http-requests.ts";
import { pumpHttp } from "../../bench/http/pump-http.ts";
import { checkNonces } from "../../bench/load/check-nonces.ts";
import { toFindingTable } from "../../bench/load/finding.ts";

const started: HttpProcess[] = [];
const listening: Server[] = [];

const fromSource = (name: string): readonly string[] => [
  "--import",
  import.meta.resolve("tsx"),
  fileURLToPath(new URL(`../../bench/${name}.ts`, import.meta.url)),
];
const commands = { ours: fromSource("http-server"), written: fromSource("http-hand-written") };

afterEach(async () => {
  await Promise.all(started.splice(0).map(({ server }) => server.stop()));
  for (const server of listening.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function start(args: readonly string[]): Promise<HttpProcess> {
  const process = await startHttp(args);
  started.push(process);
  return process;
}

/** Listens in this process, and connects. */
async function connectTo(listener: RequestListener): Promise<HttpConnection> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  listening.push(server);
  await once(server, "listening");
  // A server on a port has an address of this form.
  return HttpConnection.open((server.address() as AddressInfo).port);
}

const get = "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";

describe.each(eras)("the servers of the benchmark over HTTP, %s", (era) => {
  it.each(["ours", "written"] as const)(
    "answer every call with its own id when several clients call (%s)",
    async (side) => {
      const { port } = await start([...commands[side], "--era", era]);
      const clients = await openAll(4, () => openClient(port, { era }));
      const { latenciesMs } = await pumpHttp(clients, questions.echo, 40);
      expect(latenciesMs).toHaveLength(40);
      const [{ connection, sender } = await openClient(port, { era })] = clients;
      const answer = readMessage(await connection.ask(toPost(questions.echo, sender)(firstId + 77)));
      expect(answer).toMatchObject({
        id: firstId + 77,
        result: { structuredContent: questions.echo.params.arguments },
      });
      for (const client of clients) client.connection.close();
    },
    30_000,
  );

  it.each(["ours", "written"] as const)(
    "tell every watcher of every change, once each (%s)",
    async (side) => {
      const process = await start([...commands[side], "--era", era, "--most", "8"]);
      const watchers = await Watchers.open(process.port, era, 8);
      const heard = await watchers.hear(process, 3);
      watchers.close();
      expect(heard.map((times) => times.length)).toEqual([8, 8, 8]);
      expect(Math.min(...heard.flat())).toBeGreaterThan(0);
    },
    30_000,
  );

  it("says how many answers were not the caller's own, and finds none", { timeout: 60_000 }, async () => {
    expect(await checkNonces(commands.ours, era, 400)).toMatchObject({ found: 0, limit: 0 });
  });
});

describe("a connection of the driver", () => {
  it("resolves with a body in one piece, and with one that comes in chunks", async () => {
    let asked = 0;
    const connection = await connectTo((_request, response) => {
      asked += 1;
      if (asked === 1) return void response.writeHead(200, { "content-length": 7 }).end('{"a":1}');
      response.write('{"a"');
      setTimeout(() => response.end(":2}"), 20);
    });
    expect((await connection.ask(get)).body).toBe('{"a":1}');
    expect((await connection.ask(get)).body).toMatch(/"a"[^]*:2\}[^]*0\r\n\r\n$/);
    connection.close();
  });

  it("rejects when the server closes it, and when it was closed before anything was asked", async () => {
    const connection = await connectTo((_request, response) => void response.destroy());
    await expect(connection.ask(get)).rejects.toThrow(/closed a connection|ECONNRESET/);
    await expect(connection.ask(get)).rejects.toThrow("closed a connection");
  });
});

describe("toFindingTable", () => {
  it("says which limits are missed, and takes what is no number for missed", () => {
    const table = toFindingTable([
      { what: "held", found: 5, limit: 5 },
      { what: "over", found: 5.01, limit: 5 },
      { what: "unknown", found: Number.NaN, limit: 5 },
    ]);
    expect(table.split("\n").map((line) => line.split("|").at(-2)?.trim())).toEqual([
      "",
      "------",
      "ok",
      "missed",
      "missed",
    ]);
  });
});
