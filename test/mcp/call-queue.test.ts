import { describe, expect, it } from "vitest";
import { CallQueue, type QueuedCall } from "../../src/mcp/dispatcher.ts";

/** A queue to which so many calls were added, and the numbers of those that were started. */
function filled(count: number) {
  const queue = new CallQueue();
  const started: number[] = [];
  const add = (index: number): QueuedCall & { readonly isAdded: boolean } => {
    const call = { start: () => void started.push(index), isAdded: false };
    call.isAdded = queue.add(call);
    return call;
  };
  const calls = Array.from({ length: count }, (_, index) => add(index));
  return { queue, started, add, calls };
}

describe("CallQueue", () => {
  it("starts 64 at once and the next one when one ends", () => {
    const { queue, started } = filled(66);
    expect(started).toHaveLength(64);
    queue.done();
    expect(started.at(-1)).toBe(64);
    expect(started).toHaveLength(65);
  });

  it("refuses a request when 256 wait", () => {
    const { add, calls } = filled(64 + 256);
    expect(calls.at(-1)?.isAdded).toBe(true);
    expect(add(320).isAdded).toBe(false);
  });

  it("never starts a withdrawn call, and returns whether it still waited", () => {
    const { queue, started, calls } = filled(66);
    const withdraw = (index: number) => calls.slice(index, index + 1).map((call) => queue.withdraw(call));
    expect([withdraw(64), withdraw(0)]).toEqual([[true], [false]]);
    queue.done();
    expect(started.at(-1)).toBe(65);
  });

  it("starts nothing while it is held, and all that has room when it is let go", () => {
    const { queue, started, add } = filled(2);
    queue.hold(true);
    add(2);
    queue.add({
      start: () => {
        started.push(3);
        queue.hold(true);
      },
    });
    add(4);
    queue.done();
    expect(started).toEqual([0, 1]);
    queue.hold(false);
    // The fourth filled the output again.
    expect(started).toEqual([0, 1, 2, 3]);
    queue.hold(false);
    expect(started).toEqual([0, 1, 2, 3, 4]);
  });
});
