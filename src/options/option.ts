import type { SurfaceErrorCode } from "../errors.ts";
import { isFunction, isObject, isRecord } from "./is-object.ts";
import { findUnknownName } from "./known-names.ts";

const maxShown = 64;

/** The schema of one option. */
export interface Option {
  /** Returns the problem with a value, a sentence that begins with the option's path, or `undefined`. */
  readonly problem: (value: unknown, path: string) => string | undefined;
  /** The value of an option that is left out. */
  readonly default?: unknown;
  readonly isRequired?: boolean;
  /** The code of its errors. @default "INVALID_OPTION" */
  readonly code?: SurfaceErrorCode;
}

/** The schemas of all options of `TOptions`: the compiler finds a missing one, and one too many. */
export type OptionFields<TOptions> = { readonly [TName in keyof Required<TOptions>]: Option };

/** Schemas of options that have a default. */
export type WithDefaults<TNames extends PropertyKey> = {
  readonly [TName in TNames]: Option & { readonly default: unknown };
};

/** Creates the schema of an option. @param form - the end of "must be …". */
function must(form: string, fits: (value: unknown) => boolean, describe = describeValue): Option {
  return {
    problem: (value, path) => (fits(value) ? undefined : `"${path}" must be ${form}, and is ${describe(value)}`),
  };
}

/** Creates the schema of an option whose value errors do not quote: it may be a secret, or is no scalar. */
export function option(form: string, fits: (value: unknown) => boolean): Option {
  return must(form, fits, describeKind);
}

/** Returns the schema with the value of an option that is left out. */
export function withDefault<const TDefault>(of: Option, value: TDefault): Option & { readonly default: TDefault } {
  return { ...of, default: value };
}

/** Returns the schema of an option that must be given. */
export function required(of: Option): Option {
  return { ...of, isRequired: true };
}

/** Any value: another module checks it. */
export const unchecked: Option = { problem: () => undefined };

export const flag: Option = must("true or false", (value) => typeof value === "boolean");
export const callable: Option = option("a function", isFunction);
export const text: Option = option("a text", (value) => typeof value === "string");
/** Texts with at least one character. Errors do not quote them, so they may be secrets. */
export const filledText: Option = option(
  "a text that is not empty",
  (value) => typeof value === "string" && value !== "",
);

/** Whole numbers, both ends included. @param unit - for example ` of bytes`. */
export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER, unit = ""): Option {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return must(
    `a whole number${unit} ${range}`,
    (value) => typeof value === "number" && Number.isInteger(value) && value >= least && value <= most,
  );
}

/** Finite numbers, both ends included. @param unit - for example ` of milliseconds`. */
export function numberFrom(least: number, most: number = Number.MAX_VALUE, unit = ""): Option {
  const range = most === Number.MAX_VALUE ? `of at least ${least}` : `from ${least} to ${most}`;
  return must(`a number${unit} ${range}`, (value) => typeof value === "number" && value >= least && value <= most);
}

/** Times above 0. */
export function duration(mostMs: number): Option {
  return must(
    `a number of milliseconds above 0 and at most ${mostMs}`,
    (value) => typeof value === "number" && value > 0 && value <= mostMs,
  );
}

/** Texts of a form. @param form - the end of "must be …". */
export function matching(form: string, pattern: RegExp): Option {
  return must(form, (value) => typeof value === "string" && pattern.test(value));
}

/** Texts of 1 to `most` characters. */
export function boundedText(most: number): Option {
  return must(
    `a text of 1 to ${most} characters`,
    (value) => typeof value === "string" && value !== "" && value.length <= most,
  );
}

/** Texts of 1 to `mostBytes` bytes of UTF-8. */
export function textOfBytes(mostBytes: number): Option {
  return must(
    `a text of 1 to ${mostBytes} bytes`,
    (value) => typeof value === "string" && value !== "" && new TextEncoder().encode(value).length <= mostBytes,
  );
}

/** One of some texts. */
export function oneOf(...values: readonly string[]): Option {
  const quoted = values.map((value) => `"${value}"`);
  const form = `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
  return must(form, (value) => values.some((one) => one === value));
}

/** Objects with methods. @param form - the end of "must be …". */
export function objectWithMethods(methods: readonly string[], form: string): Option {
  return option(form, (value) => isObject(value) && methods.every((name) => isFunction(Reflect.get(value, name))));
}

/** Lists, whose items are checked one by one. @param form - the end of "must be …". */
export function listOf(
  item: Option,
  form: string,
  { least = 0, most = Infinity }: { readonly least?: number; readonly most?: number } = {},
): Option {
  const isList = (value: unknown): value is readonly unknown[] =>
    Array.isArray(value) && value.length >= least && value.length <= most;
  const list = option(form, isList);
  return {
    problem(value, path) {
      if (!isList(value)) return list.problem(value, path);
      // A hole becomes undefined in a copy, and is checked too.
      return findProblem(Array.from(value).map((one, index) => item.problem(one, `${path}.${index}`)));
    },
  };
}

/** Objects of further options. */
export function object<TOptions>(fields: OptionFields<TOptions>): Option {
  const record = option(`an object with "${Object.keys(fields).join('", "')}"`, isRecord);
  return {
    problem(value, path) {
      if (!isRecord(value)) return record.problem(value, path);
      const unknown = findUnknownName(value, Object.keys(fields));
      if (unknown !== undefined) return `"${path}": ${unknown}`;
      const entries = Object.entries<Option>(fields);
      return findProblem(entries.map(([name, field]) => problemOf(field, Reflect.get(value, name), `${path}.${name}`)));
    },
  };
}

/** Returns the problem with the value of an option, which may be left out unless it is required. */
export function problemOf({ problem, isRequired = false }: Option, value: unknown, path: string): string | undefined {
  return value === undefined && !isRequired ? undefined : problem(value, path);
}

function findProblem(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((one) => one !== undefined);
}

/** Describes a value in a few words, without its content, except that of numbers and other short scalars. */
function describeKind(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (typeof value === "string") return "a text";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Describes a value as {@link describeKind} does, and quotes the start of a text. */
export function describeValue(value: unknown): string {
  if (typeof value !== "string") return describeKind(value);
  return JSON.stringify(value.length > maxShown ? `${value.slice(0, maxShown - 3)}…` : value);
}
