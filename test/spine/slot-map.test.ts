import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SlotMap } from "../../src/spine/slot-map.ts";

interface Value {
  readonly value: string;
}

/** Adds under a key that is free, and takes under one that is in use; returns what was taken. */
function flip(map: Pick<SlotMap<number, Value>, "has" | "take" | "add">, key: number, value: Value): Value | undefined {
  if (map.has(key)) return map.take(key);
  map.add(key, value);
  return undefined;
}

class Model extends Map<number, Value> {
  add(key: number, value: Value): void {
    this.set(key, value);
  }

  take(key: number): Value | undefined {
    const value = this.get(key);
    this.delete(key);
    return value;
  }
}

describe("SlotMap", () => {
  it("does what a Map does, whatever is added and taken", () => {
    const keys = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 60 });
    fc.assert(
      fc.property(keys, (plan) => {
        const [slots, model] = [new SlotMap<number, Value>(), new Model()];
        for (const [index, key] of plan.entries()) {
          const value = { value: String(index) };
          expect(flip(slots, key, value)).toBe(flip(model, key, value));
          expect([slots.size, slots.get(key), slots.take(-1)]).toEqual([model.size, model.get(key), undefined]);
          expect(new Set(slots.list())).toEqual(new Set(model.values()));
        }
      }),
    );
  });
});
