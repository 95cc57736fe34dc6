import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { createRandom } from "../attack/random.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { envelope, handshake } from "../fixtures/envelope.ts";
import { heapArgs, ServerProcess } from "../fixtures/server-process.ts";
import { amount } from "../setup/test-length.ts";
import {
  badFrame,
  cancelledBy,
  dueOf,
  type FrameEra,
  frameEras,
  goodFrame,
  mayBeResponse,
  maxFloodGrowthMB,
} from "./mutated-frame.ts";

/** A bound on a hang, on a machine that may be busy. */
const longMs = 900_000;

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "floods-hostile");
});

const started: ServerProcess[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) await server.kill();
});

async function start(era: FrameEra): Promise<ServerProcess> {
  const server = new ServerProcess(script, [], heapArgs);
  started.push(server);
  if (era === "legacy") {
    await server.request({ id: "open", method: "initialize", params: handshake });
    await server.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  } else await server.request({ id: "open", method: "tools/list", params: { _meta: envelope } });
  server.frames.splice(0);
  return server;
}

/** How often each id was seen. */
class Tally {
  readonly counts = new Map<unknown, number>();

  add(id: unknown): void {
    this.counts.set(id, this.of(id) + 1);
  }

  of(id: unknown): number {
    return this.counts.get(id) ?? 0;
  }
}

/** A batch of frames, and what it is owed: at least so many answers under an id, and at most. */
interface Batch {
  readonly lines: readonly string[];
  readonly owed: number;
  readonly least: Tally;
  readonly most: Tally;
  /** The frames that may go without an answer: they are cancelled, or look like responses. */
  readonly spared: number;
}

function toBatch(lines: readonly string[]): Batch {
  const [least, most] = [new Tally(), new Tally()];
  let owed = 0;
  let spared = lines.filter(mayBeResponse).length;
  for (const due of lines.map(dueOf)) {
    if (due.length > 0) owed += 1;
    if (due.length === 1) least.add(due[0]);
    for (const id of due) most.add(id);
  }
  for (const id of lines.map(cancelledBy)) {
    // No request has the id null, but the answer to each frame without a readable id.
    if (id === null || least.of(id) === 0) continue;
    spared += least.of(id);
    least.counts.set(id, 0);
  }
  return { lines, owed, least, most, spared };
}

function* faultsOf({ lines, owed, spared, least, most }: Batch, ids: readonly unknown[]): Generator<string> {
  const answered = new Tally();
  for (const id of ids) answered.add(id);
  if (ids.length > owed || ids.length < owed - spared)
    yield `${ids.length} answers to ${owed} frames that are owed one`;
  for (const id of new Set([...least.counts.keys(), ...answered.counts.keys()])) {
    const count = answered.of(id);
    if (count >= least.of(id) && count <= most.of(id)) continue;
    const line = lines.find((one) => dueOf(one).includes(id)) ?? "";
    yield `${count} answers under ${JSON.stringify(id)}, not ${least.of(id)} to ${most.of(id)}: ${line.slice(0, 400)}`;
  }
}

/** Sends a batch and a request behind it, and waits for the answers that must come: that of the last may be faster than those of calls. */
async function sendBatch(server: ServerProcess, batch: Batch): Promise<readonly string[]> {
  await server.send(batch.lines.join("\n"));
  await server.until(() => server.frames.length >= batch.owed - batch.spared, 120_000);
  await server.request({ id: "behind", method: "tools/list", params: { _meta: envelope } });
  const faults = (): readonly string[] => {
    const answers = server.frames.filter(({ message }) => !("method" in message));
    const ids = answers.map(({ message }) => message["id"] ?? null).filter((id) => id !== "behind");
    return [...faultsOf(batch, ids)];
  };
  await server.until(() => faults().length === 0);
  const found = faults();
  server.frames.splice(0);
  return [...found, ...server.noise.splice(0)];
}

describe("a flood of frames over stdio, most of them malformed", () => {
  it.each(frameEras)(
    "is answered once a request, and leaves nothing in memory (%s)",
    async (era) => {
      const server = await start(era);
      const random = createRandom(20_260_728);
      const batches = amount(60_000, 600_000) / 1000;
      let heap = Number.NaN;
      for (let batch = 0; batch < batches; batch += 1) {
        const lines = Array.from({ length: 1000 }, (_none, index) => {
          const id = batch * 1000 + index;
          return index % 8 === 0 ? goodFrame(random, era, id).line : badFrame(random, era, id);
        });
        expect(await sendBatch(server, toBatch(lines))).toEqual([]);
        if (batch === Math.floor(batches / 10)) heap = await server.heapMB();
      }
      const end = await server.heapMB();
      expect(end - heap).toBeLessThan(maxFloodGrowthMB);
      expect(server.ended).toBe(false);
      expect(server.stderr).not.toMatch(/uncaught|unhandled/i);
    },
    longMs,
  );
});
