import { openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { implementSurface, listenUnixSocket, listenWebSocket } from "../../src/index.ts";
import type { BackendBug, BackendOrder, BackendReport } from "./backend-protocol.ts";
import { now } from "./now.ts";
import { State } from "./state.ts";
import { chaos, type Stamp } from "./surface.ts";

// The process that is killed. Everything that it does to its state is on record before it is done.

const { values } = parseArgs({
  options: {
    address: { type: "string", default: "" },
    journal: { type: "string", default: "" },
    gen: { type: "string", default: "0" },
    bug: { type: "string" },
  },
});

// Only the driver starts it.
const bug = values.bug as BackendBug | undefined;
const journal = openSync(values.journal, "a");
const state = new State(Number(values.gen), bug);

/** Written by the time it returns: a kill right after loses nothing. */
function note(what: "taken" | "applied", id: string): void {
  writeSync(journal, `${what} ${id}\n`);
}

function tell(report: BackendReport): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

function applyOnce(id: string, key: string): Stamp {
  if (bug === "answers without applying" && id.endsWith("7")) return state.stamp();
  note("applied", id);
  return state.apply(key);
}

const live = implementSurface(chaos, {
  items: state.items,
  count: state.count,
  status: state.status,
  rang: (_input, { signal }) => state.rings(signal),
  look: async ({ wait_ms }) => {
    await sleep(wait_ms);
    return state.stamp();
  },
  apply: async ({ id, key, before_ms, after_ms }) => {
    note("taken", id);
    await sleep(before_ms);
    const count = applyOnce(id, key);
    if (bug === "applies twice" && id.endsWith("7")) applyOnce(id, key);
    await sleep(after_ms);
    return count;
  },
});

async function obey({ order, seed }: BackendOrder): Promise<void> {
  if (order === "stir") state.stir();
  else tell({ is: "settled", values: await state.settle(seed) });
}

function listen(address: string): Promise<{ close(): Promise<void> }> {
  return address.startsWith("ws:")
    ? listenWebSocket(live, { port: Number(new URL(address).port) })
    : listenUnixSocket(live, address);
}

async function main(): Promise<void> {
  const listening = await listen(values.address);
  process.once("SIGTERM", () => {
    state.hush();
    void listening
      .close()
      .then(() => live.close())
      .then(() => process.exit(0));
  });
  const orders = createInterface({ input: process.stdin });
  // The driver made it.
  orders.on("line", (line) => void obey(JSON.parse(line) as BackendOrder));
  // A driver that is gone leaves nothing behind.
  orders.on("close", () => process.exit(0));
  state.stir();
  tell({ is: "listening", at: now() });
}

void main();
