import { type ChildProcess, spawn } from "node:child_process";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { HttpStats } from "../../../src/http/index.ts";
import { RawClient } from "../node/raw-client.ts";
import { modernPost } from "../support/modern-post.ts";

const children: ChildProcess[] = [];
const clients: RawClient[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.socket.destroy();
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const mebibyte = 1024 * 1024;

/** A server in a process of its own, with a heap of 512 MB. Tokens that start with "good" are right. */
class LoadedServer {
  readonly child: ChildProcess;
  readonly port: number;

  private constructor(child: ChildProcess, port: number) {
    this.child = child;
    this.port = port;
  }

  static async start(slowMs: number): Promise<LoadedServer> {
    const script = fileURLToPath(new URL("hostile-load-server.ts", import.meta.url));
    const child = spawn(process.execPath, ["--max-old-space-size=512", "--import", "tsx", script, String(slowMs)], {
      stdio: ["ignore", "pipe", "ignore", "ipc"],
    });
    children.push(child);
    const [line]: unknown[] = child.stdout === null ? [] : await once(child.stdout, "data");
    return new LoadedServer(child, Number(String(line)));
  }

  /** Reads a resource as a client does, and returns the status. */
  async read(token: string, member: "page" | "small"): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.port}/mcp`, toRead(token, member));
    await response.text();
    return response.status;
  }

  async stats(): Promise<HttpStats> {
    const told = once(this.child, "message");
    this.child.send("stats");
    const [message] = await told;
    // What the server sends is the statistics object.
    return message as HttpStats;
  }

  /** Opens a connection from an address of this machine. */
  connect(address = "127.0.0.1"): RawClient {
    const client = new RawClient(this.port, "127.0.0.1", address);
    clients.push(client);
    return client;
  }
}

function toRead(token: string, member: "page" | "small"): RequestInit {
  const { headers, ...init } = modernPost("resources/read", { uri: `surface://load/${member}` });
  return { ...init, headers: { ...Object.fromEntries(new Headers(headers)), authorization: `Bearer ${token}` } };
}

/** The same request as it travels. */
function toText(token: string, member: "page" | "small"): string {
  const { headers, body } = toRead(token, member);
  const content = typeof body === "string" ? body : "";
  const lines = [...new Headers(headers)].map(([name, value]) => `${name}: ${value}`);
  const length = `content-length: ${Buffer.byteLength(content)}`;
  return ["POST /mcp HTTP/1.1", "host: localhost", ...lines, length, "", content].join("\r\n");
}

describe("a server with a heap of 512 MB", () => {
  it("drops the slowest readers of a caller with too many unread bytes, and serves other callers", async () => {
    const server = await LoadedServer.start(0);
    const request = toText("good-hostile", "page");
    // The system keeps some mebibytes for each connection: only what is more is held by the process.
    for (let count = 0; count < 24; count += 1) {
      const client = server.connect();
      client.socket.pause();
      client.send(request.repeat(8));
      await once(client.socket, "connect");
      expect(await server.read("good-honest", "small")).toBe(200);
    }
    expect(await server.read("good-honest", "page")).toBe(200);
    // The requests of one caller are spread over many turns of the event loop.
    while ((await server.stats()).limits.unreadBytes.evicted <= 10) await server.read("good-honest", "small");
    const { used } = (await server.stats()).limits.unreadBytes;
    expect(used).toBeLessThanOrEqual(16 * mebibyte + 2 * mebibyte);
    expect(server.child.exitCode).toBeNull();
  }, 120_000);

  it("serves good tokens, known ones and new ones of other addresses, while nonsense tokens are verified slowly", async () => {
    const server = await LoadedServer.start(200);
    expect(await server.read("good-known", "small")).toBe(200);
    const isAttacking = { yes: true };
    // Eight requests at a time on each connection, each with a token of its own.
    const attack = async (name: string): Promise<void> => {
      for (let round = 0; isAttacking.yes; round += 1) {
        const client = server.connect();
        for (let at = 0; at < 8; at += 1) client.send(toText(`bad-${name}-${round}-${at}`, "small"));
        await client.until('"id":null');
        client.socket.destroy();
      }
    };
    const attacks = Array.from({ length: 48 }, (_, at) => attack(String(at)));
    while ((await server.stats()).limits.verifications.used < 32) await server.read("good-known", "small");
    for (let at = 0; at < 5; at += 1) {
      expect(await server.read("good-known", "small")).toBe(200);
      const newcomer = server.connect("127.0.0.2");
      newcomer.send(toText(`good-new-${at}`, "small"));
      expect((await newcomer.until("\r\n\r\n")).slice(9, 12)).toBe("200");
    }
    isAttacking.yes = false;
    await Promise.all(attacks);
  }, 60_000);

  it("serves an honest caller while 4,096 connections are open that are silent, or ask for a page and read nothing", async () => {
    const server = await LoadedServer.start(0);
    const request = toText("good-hostile", "page");
    const statuses: number[] = [];
    for (let count = 0; count < 2 * 4096; count += 1) {
      const client = server.connect();
      client.socket.pause();
      if (count % 16 === 0) client.send(request);
      // What is dropped is opened again by an attacker; here its descriptors are needed.
      if (count >= 4096) clients[count - 4096]?.socket.destroy();
      if (count % 256 === 0) statuses.push(await server.read("good-honest", "small"));
    }
    statuses.push(await server.read("good-honest", "page"));
    expect(new Set(statuses)).toEqual(new Set([200]));
    const { connections, unreadBytes } = (await server.stats()).limits;
    expect(connections.used).toBeLessThanOrEqual(connections.limit);
    expect(unreadBytes.used).toBeLessThanOrEqual(unreadBytes.limit);
    expect(server.child.exitCode).toBeNull();
  }, 600_000);
});
