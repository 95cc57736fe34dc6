import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { sample } from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { http, type HttpServing } from "../../src/http/http.ts";
import { RawClient } from "../http/node/raw-client.ts";
import { createDemo } from "../http/support/demo-app.ts";
import { stay } from "./leaving-client.ts";
import { mutatedRequest, toMutatedBytes, type MutatedRequest } from "./mutated-request.ts";
import { faultsOf } from "./read-responses.ts";
import { draws } from "../setup/test-length.ts";

const atOnce = 32;
const maxGrowth = 16 * 1024 * 1024;

let serving: HttpServing | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await serving?.close();
});

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** Sends, hears what comes for a moment, and says that there is no more to come. */
async function send(port: number, bytes: Buffer): Promise<string> {
  const client = new RawClient(port);
  client.socket.write(bytes);
  for (let turns = 0, length = -1; turns < 5 && length !== client.heard.length; turns += 1) {
    length = client.heard.length;
    await pause(25);
  }
  client.socket.end();
  return client.closed();
}

async function fuzz(port: number, session: string, requests: readonly MutatedRequest[]): Promise<readonly string[]> {
  const faults: string[] = [];
  for (let start = 0; start < requests.length; start += atOnce) {
    const sent = requests.slice(start, start + atOnce).map(async (request) => {
      const bytes = toMutatedBytes(request, session);
      const found = faultsOf(await send(port, bytes));
      return found.map((fault) => `${fault}\nto ${JSON.stringify(bytes.toString("latin1"))}`);
    });
    faults.push(...(await Promise.all(sent)).flat());
  }
  return faults;
}

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  // What it was just told to have.
  const collect = runInNewContext("gc") as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}

describe("mutated requests", () => {
  it("get an HTTP and JSON-RPC answer or a closed connection, and leave nothing in memory", async () => {
    const errors = vi.spyOn(console, "error").mockReturnValue();
    serving = await http({ exit: false, sessionIdleMs: 500, maxSessions: 64 }).serve(createDemo().app);
    const { port } = serving;
    const opened = await stay({ port, session: "" }, { ask: "initialize", era: "legacy" });
    const [, session = ""] = /mcp-session-id: (\S+)/i.exec(opened) ?? [];
    const requests = sample(mutatedRequest, { numRuns: draws(800, 1600), seed: 20_260_728 });
    const faults = [...(await fuzz(port, session, requests.slice(0, 300)))];
    const before = heapAfterCollection();
    faults.push(...(await fuzz(port, session, requests.slice(300))));
    expect(faults).toEqual([]);
    expect(heapAfterCollection() - before).toBeLessThan(maxGrowth);
    expect(await stay({ port, session }, { ask: "read", era: "modern" })).toMatch(/^HTTP\/1.1 200 /);
    await vi.waitFor(() => expect(serving?.stats().streams).toBe(0), { timeout: 10_000 });
    expect(errors.mock.calls).toEqual([]);
  }, 120_000);
});
