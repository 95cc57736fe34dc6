import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromCursor, toCursor } from "../../../src/surface/owner/cursor.ts";
import { Ring } from "../../../src/surface/owner/ring.ts";

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
            const kept = number >= ring.first && number <= ring.last;
            expect(ring.at(number)).toEqual(kept ? { value: values[number - 1] } : undefined);
          }
        },
      ),
    );
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
