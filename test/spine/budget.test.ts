import { array, assert, boolean, constantFrom, integer, oneof, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { Budget, type Evict, type Share } from "../../src/spine/budget.ts";

/** Opens a share that gives up everything when it is asked for more than what is spare, and notes its name. */
function openEvictable(budget: Budget, key: string, evicted: string[]): Share {
  const share: Share = budget.open(key, (_excess, what) => {
    if (what === "spare") return;
    evicted.push(key);
    share.release();
  });
  return share;
}

describe("Budget", () => {
  it("refuses by the key's own limit first, then by the total, and has room again after a release", () => {
    const budget = new Budget({ total: 10, perKey: 6 });
    const [one, other] = [budget.open("one"), budget.open("other")];
    expect([one.take(6), one.take(1)]).toEqual([undefined, { scope: "principal", limit: 6 }]);
    expect([other.take(4), other.take(1)]).toEqual([undefined, { scope: "global", limit: 10 }]);
    expect(budget.use).toEqual({ used: 10, limit: 10, refused: 2, evicted: 0 });
    one.release(2);
    expect([other.take(1), one.take(1)]).toEqual([undefined, undefined]);
    one.release();
    one.release();
    expect(budget.use.used).toBe(5);
  });

  it("counts shares without a key in total only", () => {
    const budget = new Budget({ total: 10, perKey: 2 });
    const share = budget.open(undefined);
    expect([share.take(10), share.take(1)]).toEqual([undefined, { scope: "global", limit: 10 }]);
  });

  it("evicts the share of the same key that was touched the longest ago, and no other key's", () => {
    const budget = new Budget({ total: 100, perKey: 6 });
    const evicted: string[] = [];
    const other = openEvictable(budget, "other", evicted);
    const [first, second, third] = [1, 2, 3].map(() => openEvictable(budget, "key", evicted));
    for (const share of [other, first, second]) share?.add(3);
    first?.touch();
    third?.add(3);
    expect([other, first, second, third].map((share) => share?.amount)).toEqual([3, 3, 0, 3]);
    expect(budget.use).toEqual({ used: 9, limit: 100, refused: 0, evicted: 1 });
  });

  it("evicts across keys when the total is reached", () => {
    const budget = new Budget({ total: 6, perKey: 6 });
    const evicted: string[] = [];
    const [first, second, third] = ["a", "b", "c"].map((key) => openEvictable(budget, key, evicted));
    for (const share of [first, second, third]) share?.add(3);
    expect(evicted).toEqual(["a"]);
  });

  it("asks every share for spare bytes before it evicts any", () => {
    const budget = new Budget({ total: 6, perKey: 6 });
    const asked: string[] = [];
    const open = (key: string, spare: number): Share => {
      const evict: Evict = (_excess, what) => {
        asked.push(`${key} ${what}`);
        if (what === "spare") share.release(spare);
      };
      const share: Share = budget.open(key, evict);
      share.add(3);
      return share;
    };
    open("a", 0);
    open("b", 2);
    budget.open("c").take(2);
    expect(asked).toEqual(["a spare", "b spare"]);
    expect(budget.use).toMatchObject({ used: 6, refused: 0, evicted: 0 });
  });

  it("lets one share exceed the limit when it counts bytes that are held already and nothing else can go", () => {
    const budget = new Budget({ total: 6, perKey: 4 });
    const evicted: string[] = [];
    const [small, large] = ["key", "key"].map((key) => openEvictable(budget, key, evicted));
    small?.add(1);
    large?.add(9);
    expect([small?.amount, large?.amount, budget.use.used]).toEqual([0, 9, 9]);
  });

  it("never releases more than a share holds", () => {
    const budget = new Budget({ total: 6, perKey: 6 });
    const [one, other] = [budget.open("key"), budget.open("key")];
    one.add(3);
    other.add(2);
    one.release();
    one.release(3);
    expect([one.amount, other.amount, budget.use.used]).toEqual([0, 2, 2]);
  });

  it("counts the bytes of its shares, and stays within its limits unless a single share exceeds them, in any order", () => {
    const step = record({
      do: constantFrom("take" as const, "add" as const, "resize" as const, "release" as const, "touch" as const),
      share: integer({ min: 0, max: 7 }),
      amount: integer({ min: 1, max: 12 }),
    });
    const kinds = array(
      record({
        key: constantFrom("a", "b", undefined),
        gives: oneof(constantFrom("all", "spare")),
        isFixed: boolean(),
      }),
      { minLength: 8, maxLength: 8 },
    );
    assert(
      property(kinds, array(step, { maxLength: 60 }), (made, steps) => {
        const limits = { total: 20, perKey: 12 };
        const budget = new Budget(limits);
        const shares = made.map(({ key, gives, isFixed }) => {
          const share: Share = budget.open(
            key,
            isFixed
              ? undefined
              : (excess, what) => share.release(what === "all" && gives === "all" ? share.amount : Math.min(1, excess)),
          );
          return share;
        });
        const sumOf = (key?: string): number =>
          shares.filter((share) => key === undefined || share.key === key).reduce((sum, { amount }) => sum + amount, 0);
        const isOver = (share: Share): boolean =>
          sumOf() > limits.total || (share.key !== undefined && sumOf(share.key) > limits.perKey);
        for (const { do: what, share: at, amount } of steps) {
          const share = shares[at] ?? budget.open("a");
          const isTaken = what === "take" && share.take(amount) === undefined;
          if (what === "touch") share.touch();
          else if (what !== "take") share[what](amount);
          expect(isTaken && isOver(share)).toBe(false);
          expect(budget.use.used).toBe(sumOf());
          expect(shares.filter((each) => each.amount < 0)).toEqual([]);
        }
        for (const share of shares) share.release();
        expect(budget.use.used).toBe(0);
        // Nothing is left under a key, and nothing that could be evicted.
        expect(["a", "b"].map((key) => budget.open(key).take(limits.perKey)?.scope)).toEqual([undefined, "global"]);
      }),
      { numRuns: 500 },
    );
  });

  it("evicts nothing for a share that would be too large alone", () => {
    const budget = new Budget({ total: 6, perKey: 4 });
    const evicted: string[] = [];
    openEvictable(budget, "key", evicted).add(3);
    expect(budget.open("key").take(5)).toEqual({ scope: "principal", limit: 4 });
    expect(budget.open(undefined).take(7)).toEqual({ scope: "global", limit: 6 });
    expect(evicted).toEqual([]);
  });

  it("evicts no other key for a key that stays over its own limit", () => {
    const budget = new Budget({ total: 64, perKey: 16 });
    const evicted: string[] = [];
    budget.open("key").take(10);
    openEvictable(budget, "key", evicted).take(6);
    for (const other of ["a", "b", "c"]) openEvictable(budget, other, evicted).take(15);
    expect(budget.open("key").take(8)).toEqual({ scope: "principal", limit: 16 });
    expect(evicted).toEqual([]);
    expect(budget.use).toEqual({ used: 61, limit: 64, refused: 1, evicted: 0 });
    expect(budget.open("key").take(6)).toBeUndefined();
    expect(evicted).toEqual(["key"]);
  });

  it("evicts nothing when the evictable shares hold too little, and does not count the others", () => {
    const budget = new Budget({ total: 20, perKey: 20 });
    const evicted: string[] = [];
    const [small, large] = ["small", "large"].map((key) => openEvictable(budget, key, evicted));
    small?.take(4);
    large?.take(16);
    Object.assign(large ?? {}, { eviction: "never" });
    expect(budget.open("c").take(6)).toEqual({ scope: "global", limit: 20 });
    expect(evicted).toEqual([]);
    Object.assign(large ?? {}, { eviction: "normal" });
    expect(budget.open("c").take(6)).toBeUndefined();
    expect(evicted).toEqual(["small", "large"]);
  });

  it("evicts shares with priority before others, also when they were touched later", () => {
    const budget = new Budget({ total: 3, perKey: 3 });
    const evicted: string[] = [];
    const [, , first] = ["a", "b", "first"].map((key) => openEvictable(budget, key, evicted));
    for (const share of [first]) share?.take(1);
    openEvictable(budget, "c", evicted).take(1);
    first?.touch();
    Object.assign(first ?? {}, { eviction: "first" });
    budget.open("d").take(2);
    expect(evicted).toEqual(["first"]);
  });

  it("reports which limit was reached, whether it evicted or refused", () => {
    const told: unknown[] = [];
    const budget = new Budget({ total: 6, perKey: 6 }, (over) => told.push(over.scope));
    openEvictable(budget, "a", []).add(6);
    budget.open("b").take(1);
    budget.open("b").take(6);
    expect(told).toEqual(["global", "principal"]);
  });

  it("resizes in both directions, and takes less than before for progress", () => {
    const budget = new Budget({ total: 6, perKey: 6 });
    const evicted: string[] = [];
    const [first, second] = ["a", "b"].map((key) => openEvictable(budget, key, evicted));
    first?.resize(4);
    second?.resize(2);
    first?.resize(3);
    budget.open("c").take(3);
    expect(evicted).toEqual(["b"]);
  });
});
