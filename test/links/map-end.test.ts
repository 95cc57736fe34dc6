import { describe, expect, it } from "vitest";
import { mapEnd } from "../../src/links/droppable.ts";

describe("mapEnd()", () => {
  it("opens nothing when it is iterated after its consumer has left", async () => {
    let opened = 0;
    let over = 0;
    const open = async function* () {
      opened += 1;
      yield 1;
    };
    const iterator = mapEnd(open, { over: () => void (over += 1) })[Symbol.asyncIterator]();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(opened).toBe(0);
    expect(over).toBeGreaterThan(0);
  });
});
