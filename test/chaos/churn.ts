import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import {
  collection,
  defineSurface,
  implementSurface,
  listenUnixSocket,
  mcp,
  mcpResource,
  unixSocket,
} from "../../src/index.ts";
import { McpConnection } from "../../src/mcp/mcp-connection.ts";
import { modernLine } from "../fixtures/envelope.ts";
import type { ChurnReport } from "./churn-report.ts";
import { countTimers } from "./count-timers.ts";
import { CountedSource } from "./counted-source.ts";
import { anonymous } from "../../src/surface/caller.ts";

// Comes and goes for ever so long, over a real socket, in one process; tells what that has left. Run with --expose-gc.

const [, , kind = "", cycles = "0"] = process.argv;

const surface = defineSurface("churn", { items: mcpResource(collection({ key: z.string(), schema: z.int() })) });
const uris = Array.from({ length: 50 }, (_, index) => `surface://churn/items/k${index}`);

/** How many come and go together. */
const batch = 50;

/** How many come and go before anything is measured: code is compiled and pools are filled meanwhile. */
const warmUp = 5000;

/** Lets timers, sockets and whatever else is due have its turn: a loop that never does shows leaks that are none. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function heapAfterGc(): Promise<number> {
  for (let time = 0; time < 3; time += 1) {
    await sleep(100);
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}

const folder = mkdtempSync(join(tmpdir(), "churn-"));
const source = new CountedSource(batch);

/** Waits until something holds; a hang is for the test to end. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn();
}

async function open() {
  const live = implementSurface(surface, { items: source });
  const listening = await listenUnixSocket(live, join(folder, "s.sock"));
  const runtime = mcp(surface).bridge(unixSocket(listening.path)).pull().open();
  let acknowledged = 0;
  const gate = new McpConnection({
    runtime,
    send: (json) => void (acknowledged += json.includes("subscriptions/acknowledged") ? 1 : 0),
  });
  const close = async (): Promise<void> => {
    gate.close();
    await runtime.close();
    await listening.close();
    await live.close();
  };
  return { runtime, gate, close, acknowledged: () => acknowledged };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** A batch: comes, stays until everything is open where `stays`, and goes. */
type Batch = (opened: Opened, first: number, stays: boolean) => Promise<void>;

const cancelOf = (requestId: number): string =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });

function idsFrom(first: number): readonly number[] {
  return Array.from({ length: batch }, (_, index) => first + index);
}

const batches: Readonly<Record<string, Batch>> = {
  /** Watches through the runtime. */
  async watch({ runtime }, _first, stays) {
    let opened = 0;
    const ends = uris.map((uri) =>
      runtime.resources.watch(anonymous, uri, { changed: () => {}, opened: () => void (opened += 1) }),
    );
    if (stays) await until(() => opened === batch);
    for (const end of ends) end?.();
  },
  /** Subscriptions of a client of the modern era. */
  async listen({ gate, acknowledged }, first, stays) {
    const before = acknowledged();
    for (const id of idsFrom(first)) {
      const resourceSubscriptions = [uris[id % batch], uris[(id + 1) % batch]];
      gate.receive(modernLine(id, "subscriptions/listen", { notifications: { resourceSubscriptions } }));
    }
    if (stays) await until(() => acknowledged() - before === batch);
    for (const id of idsFrom(first)) gate.receive(cancelOf(id));
  },
  /** Calls that wait for a change, and are cancelled. */
  async wait({ gate }, first, stays) {
    const before = source.subscribed;
    for (const id of idsFrom(first)) {
      const params = { name: "wait_for_change", arguments: { uris: [uris[id % batch]], timeout_ms: 60_000 } };
      gate.receive(modernLine(id, "tools/call", params));
    }
    if (stays) await until(() => source.subscribed - before === batch);
    for (const id of idsFrom(first)) gate.receive(cancelOf(id));
  },
};

async function churn(opened: Opened, count: number): Promise<void> {
  const run = batches[kind];
  for (let done = 0; done < count; done += batch) {
    await run?.(opened, done + 1, (done / batch) % 2 === 0);
    if (done % 200 === 0) await turn();
  }
}

/** What keeps the process alive, counted by name. */
function activeResources(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

async function main(): Promise<void> {
  // Made before the first look, both: they are pipes themselves.
  const { stdout, stderr } = process;
  stderr.write("");
  const timers = countTimers();
  const before = activeResources();
  const opened = await open();
  opened.gate.receive(modernLine("open", "server/discover"));
  await churn(opened, warmUp);
  const heapBefore = await heapAfterGc();
  const timersBefore = timers();
  await churn(opened, Number(cycles));
  await until(() => source.active === 0);
  const heapGrowth = (await heapAfterGc()) - heapBefore;
  const { active, most, subscribed } = source;
  const timersAfter = timers();
  await opened.close();
  await sleep(50);
  const left = activeResources();
  rmSync(folder, { recursive: true, force: true });
  const report: ChurnReport = {
    heapGrowth,
    active,
    most,
    subscribed,
    timers: { before: timersBefore, after: timersAfter, left: timers() },
    resources: { before, left },
  };
  stdout.write(JSON.stringify(report));
}

void main();
