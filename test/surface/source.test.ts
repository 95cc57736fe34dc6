import { describe, expect, it } from "vitest";
import { cellSource } from "../../src/surface/source.ts";

describe("cellSource()", () => {
  it("set() calls every listener once when the value changes, and none when it is the same", () => {
    const source = cellSource<unknown>(Number.NaN);
    const seen: unknown[] = [];
    const listener = (value: unknown): void => void seen.push(value);
    source.subscribe(listener);
    const stop = source.subscribe(listener);
    source.set(Number.NaN);
    source.set(0);
    source.set(-0);
    stop();
    stop();
    source.set(1);
    expect(seen).toEqual([0, 0, -0, -0, 1]);
    expect(source.get()).toBe(1);
  });

  it("set() never lets an older value come after a newer one when a listener sets another", () => {
    const source = cellSource(0);
    const seen: number[] = [];
    source.subscribe((value) => {
      if (value === 1) source.set(2);
    });
    source.subscribe((value) => void seen.push(value));
    source.set(1);
    expect(seen).toEqual([2]);
  });

  it("set() calls the others when a listener throws, and then throws its error", () => {
    const source = cellSource(0);
    const seen: number[] = [];
    source.subscribe(() => {
      throw new Error("first");
    });
    source.subscribe((value) => void seen.push(value));
    expect(() => source.set(1)).toThrow("first");
    expect([seen, source.get()]).toEqual([[1], 1]);
  });

  it("set() does not call a listener that was removed or added meanwhile", () => {
    const source = cellSource(0);
    const seen: string[] = [];
    source.subscribe(() => {
      seen.push("first");
      leave();
      source.subscribe(() => void seen.push("new"));
    });
    const leave = source.subscribe(() => void seen.push("second"));
    source.set(1);
    expect(seen).toEqual(["first"]);
  });
});
