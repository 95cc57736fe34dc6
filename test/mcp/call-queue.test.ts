import { describe, expect, it } from "vitest";
import { CallQueue } from "../../src/mcp/call-queue.ts";

/** A queue to which so many calls were added, and the numbers of those that were started. */
function filled(count: number): { queue: CallQueue<number>; started: number[] } {
  const queue = new CallQueue<number>();
  const started: number[] = [];
  for (let index = 0; index < count; index += 1) queue.add(index, () => started.push(index));
  return { queue, started };
}

describe("CallQueue", () => {
  it("starts 64 at once and the next one when one is done", () => {
    const { queue, started } = filled(66);
    expect(started).toHaveLength(64);
    queue.done();
    expect(started.at(-1)).toBe(64);
    expect(started).toHaveLength(65);
  });

  it("is full when 256 wait", () => {
    expect(filled(64 + 255).queue.full).toBe(false);
    expect(filled(64 + 256).queue.full).toBe(true);
  });

  it("never starts what was withdrawn, and says whether it still waited", () => {
    const { queue, started } = filled(66);
    expect(queue.withdraw(64)).toBe(true);
    expect(queue.withdraw(0)).toBe(false);
    queue.done();
    expect(started.at(-1)).toBe(65);
  });

  it("starts nothing while it is held, and all that has room when it is let go", () => {
    const { queue, started } = filled(2);
    queue.hold(true);
    queue.add(2, () => started.push(2));
    queue.add(3, () => {
      started.push(3);
      queue.hold(true);
    });
    queue.add(4, () => started.push(4));
    queue.done();
    expect(started).toEqual([0, 1]);
    queue.hold(false);
    // The fourth filled the output again.
    expect(started).toEqual([0, 1, 2, 3]);
    queue.hold(false);
    expect(started).toEqual([0, 1, 2, 3, 4]);
  });

  it("forgets what waits when it is cleared", () => {
    const { queue, started } = filled(70);
    queue.clear();
    for (let index = 0; index < 64; index += 1) queue.done();
    expect(started).toHaveLength(64);
  });
});
