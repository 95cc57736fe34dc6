import { sample } from "fast-check";
import { afterEach, expect, it } from "vitest";
import { createRandom } from "../attack/random.ts";
import { HostileServer } from "../bad-inputs/http/hostile-server.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { handshake } from "../fixtures/envelope.ts";
import { heapArgs } from "../fixtures/server-process.ts";
import { amount } from "../setup/test-length.ts";
import { FloodConnection } from "./flood-connection.ts";
import { Flooder, toPost } from "./flooder.ts";
import { maxFloodGrowthMB } from "./mutated-frame.ts";
import { mutatedRequest, toMutatedBytes } from "./mutated-request.ts";

/** A bound on a hang, on a machine that may be busy. */
const longMs = 900_000;

let server: HostileServer | undefined;
afterEach(() => server?.kill());

async function openSession(port: number): Promise<string> {
  const connection = new FloodConnection(port);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: handshake });
  const { heard } = await connection.ask(toPost(body, []));
  connection.close();
  return /^mcp-session-id: (\S+)/im.exec(heard)?.[1] ?? "";
}

/** Sends requests from `from` on and before `to`, all clients at once. Every fourth is broken bytes. */
async function flood(
  clients: readonly Flooder[],
  { from, to, session }: { readonly from: number; readonly to: number; readonly session: string },
): Promise<readonly string[]> {
  const broken = sample(mutatedRequest, { numRuns: Math.ceil((to - from) / 4), seed: from + 1 });
  const faults: string[] = [];
  let next = from;
  const work = async (client: Flooder): Promise<void> => {
    while (next < to) {
      const id = next;
      next += 1;
      const request = id % 4 === 0 ? broken.pop() : undefined;
      faults.push(...(await client.send(id, request === undefined ? undefined : toMutatedBytes(request, session))));
    }
  };
  await Promise.all(clients.map(work));
  return faults;
}

it(
  "a flood of HTTP requests, good and bad, is answered once a request that can be read, and leaves nothing in memory",
  async () => {
    const script = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "flood-hostile");
    server = new HostileServer(script, { options: { maxSessions: 64 } }, heapArgs);
    const { port } = await server.stats();
    const session = await openSession(port);
    const clients = Array.from({ length: 16 }, (_none, index) => new Flooder(port, session, createRandom(index)));
    const part = amount(1000, 10_000);
    expect(await flood(clients, { from: 0, to: part, session })).toEqual([]);
    const before = await server.process.heapMB();
    for (let from = part; from < 10 * part; from += part) {
      expect(await flood(clients, { from, to: from + part, session })).toEqual([]);
    }
    const growth = (await server.process.heapMB()) - before;
    const { streams } = await server.stats();
    for (const client of clients) client.close();
    expect(growth).toBeLessThan(maxFloodGrowthMB);
    expect(streams).toBe(0);
    expect(server.process.stderr).not.toMatch(/uncaught|unhandled/i);
  },
  longMs,
);
