import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../src/errors.ts";
import {
  callable,
  filledText,
  flag,
  listOf,
  object,
  oneOf,
  required,
  wholeNumber,
  withDefault,
  type OptionFields,
} from "../../src/options/option.ts";
import { pickOptions, readOptions } from "../../src/options/read-options.ts";

interface Options {
  readonly name: string;
  readonly size?: number;
  readonly mode?: "fast" | "safe";
  readonly on?: boolean;
  readonly names?: readonly string[];
  readonly token?: string;
  readonly done?: () => void;
  readonly limits?: { readonly total?: number };
}

const fields = {
  name: required(filledText),
  size: withDefault(wholeNumber(1, 9), 3),
  mode: oneOf("fast", "safe"),
  on: flag,
  names: listOf(filledText, "a list of names", { least: 1 }),
  token: filledText,
  done: callable,
  limits: object<NonNullable<Options["limits"]>>({ total: wholeNumber(1) }),
} satisfies OptionFields<Options>;

function messageOf(options: unknown): string {
  try {
    // What a program in plain JavaScript may pass.
    readOptions(options as Options, fields, "Trying");
  } catch (cause) {
    return cause instanceof SurfaceError ? cause.message : `not ours: ${String(cause)}`;
  }
  return "nothing was refused";
}

describe("readOptions()", () => {
  it("fills in defaults and leaves out what is undefined", () => {
    expect(readOptions({ name: "a" }, fields, "Trying")).toEqual({ name: "a", size: 3 });
    const given: object = { name: "a", mode: undefined, size: undefined };
    expect(Object.keys(readOptions(given as Options, fields, "Trying"))).toEqual(["name", "size"]);
  });

  it("hands on functions and objects by reference", () => {
    const done = (): void => {};
    const limits = { total: 1 };
    const read = readOptions({ name: "a", done, limits }, fields, "Trying");
    expect([read.done, read.limits]).toEqual([done, limits]);
    expect(read.limits).toBe(limits);
  });

  it.each<[unknown, string]>([
    [null, "Trying: its options must be an object"],
    [[], "Trying: its options must be an object"],
    [{}, 'Trying: "name" must be a text that is not empty, and is missing'],
    [{ name: "a", sise: 1 }, 'Trying: "sise" is not an option; did you mean "size"?'],
    [{ name: "a", size: 1.5 }, 'Trying: "size" must be a whole number from 1 to 9, and is 1.5'],
    [{ name: "a", mode: "slow" }, 'Trying: "mode" must be "fast" or "safe", and is "slow"'],
    [{ name: "a", on: null }, 'Trying: "on" must be true or false, and is null'],
    [{ name: "a", names: [] }, 'Trying: "names" must be a list of names, and is an empty list'],
    // oxlint-disable-next-line no-sparse-arrays -- a hole is what it is about
    [{ name: "a", names: ["b", ,] }, 'Trying: "names.1" must be a text that is not empty, and is missing'],
    [{ name: "a", token: 7 }, 'Trying: "token" must be a text that is not empty, and is 7'],
    [{ name: "a", done: "a secret" }, 'Trying: "done" must be a function, and is a text'],
    [{ name: "a", limits: 1 }, 'Trying: "limits" must be an object with "total", and is 1'],
    [{ name: "a", limits: { totl: 1 } }, 'Trying: "limits": "totl" is not an option; did you mean "total"?'],
    [{ name: "a", limits: { total: 0 } }, 'Trying: "limits.total" must be a whole number of at least 1, and is 0'],
  ])("refuses %j", (options, message) => {
    expect(messageOf(options)).toBe(message);
  });

  it("clips a long text in its message", () => {
    expect(messageOf({ name: "a", mode: "x".repeat(1000) })).toMatch(/"x{61}…"$/);
  });

  it("refuses an own __proto__, and takes no option from a prototype that it does not check", () => {
    expect(messageOf(JSON.parse('{ "name": "a", "__proto__": { "size": 4 } }'))).toContain(
      '"__proto__" is not an option',
    );
    expect(messageOf(Object.create({ name: "" }))).toContain('"name" must be a text that is not empty');
    expect(readOptions(Object.create({ name: "a" }) as Options, fields, "Trying")).toEqual({ name: "a", size: 3 });
  });

  it("reads each option once, so that a getter cannot answer something else later", () => {
    let reads = 0;
    const options: Options = {
      get name() {
        reads += 1;
        return reads === 1 ? "first" : "";
      },
    };
    expect(readOptions(options, fields, "Trying").name).toBe("first");
    expect(reads).toBe(1);
  });

  it("lets through what a getter or a proxy throws", () => {
    const proxy = new Proxy(
      { name: "a" },
      {
        ownKeys: () => {
          throw new RangeError("trap");
        },
      },
    );
    expect(() => readOptions(proxy, fields, "Trying")).toThrow(RangeError);
  });

  it("pickOptions() takes an object that has other fields", () => {
    const more: object = { name: "a", other: 1 };
    expect(pickOptions(more as Options, fields, "Trying")).toEqual({ name: "a", size: 3 });
  });
});
