import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../src/errors.ts";
import { pump } from "../../src/catalog/resources/watched-resource.ts";
import { settle } from "../surface/support.ts";

/** Pumps, and notes what was told. */
function start(open: (signal: AbortSignal) => AsyncIterable<number>) {
  const told: unknown[] = [];
  const stop = pump(open, {
    value: (value) => told.push(value),
    ended: () => told.push("ended"),
    failed: (lasting) => told.push(lasting ? "lasting" : "failed"),
  });
  return { told, stop };
}

describe("pump()", () => {
  it("tells every value, then the end", async () => {
    const { told } = start(async function* () {
      yield 1;
      yield 2;
    });
    await settle();
    expect(told).toEqual([1, 2, "ended"]);
  });

  it.each([
    ["failed", new Error("odd")],
    ["failed", new SurfaceError("INTERNAL", "an internal error occurred")],
    ["lasting", new SurfaceError("VALIDATION_ERROR", "it does not fit")],
    ["lasting", new SurfaceError("UNKNOWN_MEMBER", "there is none")],
  ])("tells that it %s when it fails with %s, also where opening does", async (word, cause: Error) => {
    const whileOpen = start(async function* () {
      yield 1;
      throw cause;
    });
    const atOnce = start(() => {
      throw cause;
    });
    await settle();
    expect([whileOpen.told, atOnce.told]).toEqual([[1, word], [word]]);
  });

  it.each(["DISCONNECTED", "UNAVAILABLE"] as const)(
    "says nothing when its connection has ended, by %s",
    async (code) => {
      const { told } = start(async function* () {
        yield 1;
        throw new SurfaceError(code, "cut");
      });
      await settle();
      expect(told).toEqual([1]);
    },
  );

  it.each([true, false])("tells the end of values only while their link is open: %s", async (isOpen) => {
    const told: unknown[] = [];
    const events = { value: (value: number) => told.push(value), ended: () => told.push("ended"), failed: () => {} };
    const values = async function* () {
      yield 1;
    };
    pump(values, events, { isOpen: () => isOpen });
    await settle();
    expect(told).toEqual(isOpen ? [1, "ended"] : [1]);
  });

  it("says nothing more once it was stopped, whatever is still on its way, and lets its source go", async () => {
    let isLeft = false;
    let push = (): void => {};
    const pumped = [
      async function* () {
        try {
          for (let count = 0; ; count += 1) {
            yield count;
            await new Promise<void>((resolve) => (push = resolve));
          }
        } finally {
          isLeft = true;
        }
      },
      async function* (signal: AbortSignal) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        yield 1;
      },
      async function* (signal: AbortSignal) {
        await new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
        yield 1;
      },
    ].map(start);
    await settle();
    for (const { stop } of pumped) {
      stop();
      stop();
    }
    push();
    await settle();
    expect(pumped.map(({ told }) => told)).toEqual([[0], [], []]);
    expect(isLeft).toBe(true);
  });
});
