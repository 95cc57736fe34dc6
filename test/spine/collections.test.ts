import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Places, setNewest, SlotMap, type Place } from "../../src/spine/collections.ts";

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
  it("behaves like a Map for any operations", () => {
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

function valuesOf(places: Places<number>): readonly number[] {
  return places.list().map(({ value }) => value);
}

describe("Places", () => {
  it("keep the order, and drop removed users, when users come and go at random", () => {
    const steps = fc.array(fc.record({ adds: fc.boolean(), which: fc.nat(20) }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (plan) => {
        const places = new Places<number>();
        const model: Place<number>[] = [];
        for (const [index, { adds, which }] of plan.entries()) {
          if (adds) model.push(places.add(index));
          const [former] = adds ? [] : model.splice(which, 1);
          const removals = former === undefined ? [true, false] : [places.remove(former), places.remove(former)];
          expect(removals).toEqual([true, false]);
          expect(places.list()).toEqual(model);
          expect(model.every(({ isTaken }) => isTaken) && former?.isTaken !== true).toBe(true);
          expect(places.size).toBe(model.length);
        }
      }),
    );
  });

  it("keep no user by a released place when another one holds it", () => {
    const places = new Places<number>();
    const [, middle] = [places.add(1), places.add(2), places.add(3)];
    places.remove(middle);
    expect([middle.before, middle.after]).toEqual([undefined, undefined]);
    expect(valuesOf(places)).toEqual([1, 3]);
  });

  it("are all released, and can be taken again, when they are cleared", () => {
    const places = new Places<number>();
    const former = [places.add(1), places.add(2)];
    places.clear();
    expect(former.map(({ isTaken }) => isTaken)).toEqual([false, false]);
    expect([places.size, valuesOf(places)]).toEqual([0, []]);
    places.add(3);
    expect(valuesOf(places)).toEqual([3]);
  });
});

describe("setNewest()", () => {
  it("keeps the newest entries of a map, and returns the key that it deleted", () => {
    const map = new Map([
      ["a", 1],
      ["b", 2],
    ]);
    expect(setNewest(map, ["a", 3], 2)).toBeUndefined();
    expect([...map]).toEqual([
      ["b", 2],
      ["a", 3],
    ]);
    expect(setNewest(map, ["c", 4], 2)).toBe("b");
    expect([...map.keys()]).toEqual(["a", "c"]);
  });
});
