import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonical } from "../../../src/surface/owner/canonical.ts";

const scalar = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constantFrom(null, undefined), fc.bigInt());

function shuffle(value: object): object {
  return Object.fromEntries(Object.entries(value).toReversed());
}

describe("canonical()", () => {
  it("canonical() is the same for equal values and differs for others, whatever the order of fields", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), scalar), fc.dictionary(fc.string(), scalar), (one, two) => {
        expect(canonical(one)).toBe(canonical(shuffle(one)));
        const plain = (value: object): object =>
          Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
        const [left, right] = [plain(one), plain(two)];
        const same =
          Object.keys(left).length === Object.keys(right).length &&
          Object.entries(left).every(
            ([key, field]) => Object.hasOwn(right, key) && alike(field, Reflect.get(right, key)),
          );
        expect(canonical(one) === canonical(two)).toBe(same);
      }),
    );
  });

  it("canonical() tells all of these apart", () => {
    class Own {
      readonly a = 1;
    }
    const all = [
      undefined,
      null,
      "",
      "null",
      "undefined",
      0,
      "0",
      1,
      1n,
      "1n",
      true,
      "true",
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      [],
      [undefined],
      [null],
      [1, 2],
      ["1,2"],
      {},
      { a: 1 },
      { a: "1" },
      { b: 1 },
      new Own(),
      new Own(),
      new Date(0),
      new Date(0).toJSON(),
      new Date(Number.NaN),
      new Set(),
      new Set(["a"]),
      new Set(["b"]),
      new Map(),
      new Map([["a", 1]]),
      new Map([["a", 2]]),
      /a/,
      /b/,
      () => {},
      () => {},
      Symbol("a"),
      new URL("http://a/"),
      new URL("http://b/"),
    ];
    expect(new Set(all.map(canonical)).size).toBe(all.length);
    expect(all.map(canonical)).toEqual(all.map(canonical));
  });

  it("canonical() sees sets and maps as equal when only their order differs", () => {
    expect(canonical(new Set([1, 2]))).toBe(canonical(new Set([2, 1])));
    expect(
      canonical(
        new Map([
          [1, { a: 1 }],
          [2, { b: 2 }],
        ]),
      ),
    ).toBe(
      canonical(
        new Map([
          [2, { b: 2 }],
          [1, { a: 1 }],
        ]),
      ),
    );
    expect(canonical(Object.assign(Object.create(null), { a: 1 }))).toBe(canonical({ a: 1 }));
  });
});

/** Two zeros are one key of a map, and so of everything here. */
function alike(one: unknown, two: unknown): boolean {
  return Object.is(one, two) || one === two;
}
