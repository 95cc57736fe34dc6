import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromCursor, Ring, toCursor } from "../../../src/surface/owner/ring.ts";

describe("Ring", () => {
  it("a ring keeps the newest values under their numbers when more come than it holds", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.option(fc.nat(), { nil: undefined })),
        (capacity, values) => {
          const ring = new Ring<number | undefined>(capacity);
          for (const value of values) ring.push(value);
          expect(ring.last).toBe(values.length);
          expect(ring.values()).toEqual(values.slice(-capacity));
          for (let number = -1; number <= values.length + 1; number += 1) {
            const next = Math.max(number + 1, ring.first);
            const found = next > values.length ? undefined : { number: next, value: values[next - 1] };
            expect(ring.next(number)).toEqual(found && { ...found, missed: next - number - 1, isReset: false });
          }
        },
      ),
    );
  });

  it("a ring counts what was lost before a value as numbers that are not kept", () => {
    const ring = new Ring<string>(2);
    ring.push("a");
    ring.push("b", { missed: 5, isReset: true });
    expect([ring.first, ring.last, ring.values()]).toEqual([1, 7, ["a", "b"]]);
    expect(ring.next(1)).toEqual({ number: 7, value: "b", missed: 5, isReset: true });
    expect(ring.next(4)).toMatchObject({ value: "b", missed: 2 });
    ring.push("c");
    expect(ring.next(0)).toMatchObject({ number: 7, value: "b", missed: 6 });
    expect(ring.next(7)).toEqual({ number: 8, value: "c", missed: 0, isReset: false });
  });
});

describe("fromCursor()", () => {
  it("fromCursor() reads what toCursor() wrote, and resets on anything else", () => {
    const setting = { generation: "abc", first: 3, last: 9 };
    fc.assert(
      fc.property(fc.nat(12), fc.string(), (number, noise) => {
        const start = fromCursor(toCursor("abc", number), setting);
        expect(start).toEqual(number > 9 ? { kind: "reset", number: 2 } : { kind: "after", number });
        expect(fromCursor(`x${noise}`, setting)).toEqual({ kind: "reset", number: 2 });
      }),
    );
  });
});
