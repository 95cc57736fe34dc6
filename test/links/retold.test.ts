import { describe, expect, it } from "vitest";
import { retold } from "../../src/links/retold.ts";

describe("retold()", () => {
  it("opens nothing when it is iterated after its consumer has left", async () => {
    let opened = 0;
    let over = 0;
    const open = async function* () {
      opened += 1;
      yield 1;
    };
    const iterator = retold(open, { over: () => void (over += 1) })[Symbol.asyncIterator]();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(opened).toBe(0);
    expect(over).toBeGreaterThan(0);
  });
});
