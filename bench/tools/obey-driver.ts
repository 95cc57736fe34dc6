import { setTimeout as sleep } from "node:timers/promises";
import { type Burst, type Memory, monotonicMs, type Order, type Place, type Report } from "./orders.ts";

const pauseMs = 9;

/** The middle of a window is waited for: how many notices are allowed must not hang on a millisecond. */
async function untilMidWindow(started: number, windowMs: number): Promise<void> {
  const into = ((monotonicMs() - started) % windowMs) / windowMs;
  if (into > 0.7) await sleep((1.5 - into) * windowMs);
  else if (into < 0.3) await sleep((0.5 - into) * windowMs);
}

async function writeBurst({ writes, turns, windowMs }: Burst, change: () => number): Promise<Report> {
  const started = monotonicMs();
  let last = started;
  let value = 0;
  for (let turn = 1; turn <= turns; turn += 1) {
    if (turn > 1) await (turn === turns ? untilMidWindow(started, windowMs) : sleep(pauseMs));
    for (let count = 0; count < writes / turns; count += 1) {
      last = monotonicMs();
      value = change();
    }
  }
  return { times: [started, last], value };
}

/** What is held once all garbage is gone. A process that was started without `--expose-gc` has some left. */
async function readMemory(): Promise<Memory> {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    // What was let go of in finalizers goes with the next round.
    await sleep(20);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heapUsed, external };
}

/** Lets the driver that started this process write the value: `change` writes the next one and returns it. `place`: where it serves. */
export function obeyDriver(change: () => number, place: Place = { port: 0 }): void {
  let times: number[] = [];
  let value = 0;
  const answer = async (order: Exclude<Order, { readonly kind: "change" }>): Promise<Report | Memory | Place> => {
    if (order.kind === "memory") return readMemory();
    if (order.kind === "place") return place;
    const report = order.kind === "burst" ? await writeBurst(order, change) : { times, value };
    times = [];
    return report;
  };
  const obey = async (order: Order): Promise<void> => {
    if (order.kind === "change") {
      // Noted first, and told later: nothing but the change itself is between this and its notice.
      times.push(monotonicMs());
      value = change();
      return;
    }
    process.send?.(await answer(order));
  };
  process.on("message", (message) => {
    // Nobody but the driver has the other end.
    void obey(message as Order);
  });
  // It does not keep the process alive once its host is gone.
  process.channel?.unref();
}
