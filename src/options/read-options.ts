import { SurfaceError } from "../errors.ts";
import type { SurfaceErrorCode } from "../errors.ts";
import { isRecord } from "./is-object.ts";
import { assertKnownOptions } from "./known-names.ts";
import { problemOf, type Option, type OptionFields } from "./option.ts";

/** The names of the options that have a default. */
type Defaulted<TFields> = {
  [TName in keyof TFields]: TFields[TName] extends { readonly default: unknown } ? TName : never;
}[keyof TFields];

/** Options after defaults: an option with a default is always present. */
export type ReadOptions<TOptions, TFields> = TOptions & {
  readonly [TName in keyof TOptions & Defaulted<TFields>]-?: Exclude<TOptions[TName], undefined>;
};

/** Creates the error for an invalid option. @param doing - the start of the message: `Serving over stdio`. */
export function invalidOption(doing: string, problem: string, code: SurfaceErrorCode = "INVALID_OPTION"): SurfaceError {
  return new SurfaceError(code, `${doing}: ${problem}`);
}

/**
 * Reads options by their schemas: refuses unknown names and invalid values, and fills in defaults. Reads each property once into a
 * copy, so that a getter cannot return another value later. Does not copy values.
 *
 * @param doing - the action of the caller, the start of the message: `Serving over stdio`.
 * @throws SurfaceError `INVALID_OPTION`, or the code of a schema.
 */
export function readOptions<TOptions extends object, TFields extends OptionFields<TOptions>>(
  options: TOptions,
  fields: TFields,
  doing: string,
): ReadOptions<TOptions, TFields> {
  assertKnownOptions(options, Object.keys(fields), doing);
  return pickOptions(options, fields, doing);
}

/** Reads options as {@link readOptions} does, from an object that may have further fields. */
export function pickOptions<TOptions extends object, TFields extends OptionFields<TOptions>>(
  options: TOptions,
  fields: TFields,
  doing: string,
): ReadOptions<TOptions, TFields> {
  const read: Record<string, unknown> = {};
  for (const [name, field] of Object.entries<Option>(fields)) {
    const given: unknown = Reflect.get(options, name);
    const problem = problemOf(field, given, name);
    if (problem !== undefined) throw invalidOption(doing, problem, field.code);
    const value = given === undefined ? field.default : given;
    if (value !== undefined) read[name] = value;
  }
  // Every option was checked by its schema.
  return read as ReadOptions<TOptions, TFields>;
}

/** A word of an expose map, and what was given with it. */
export interface Choice<TWord extends string> {
  readonly word: TWord;
  readonly given: unknown;
}

/**
 * Reads a value of an expose map: one of the words alone, or an object with one of them as its only key. Returns `undefined` for any
 * other value.
 *
 * @param plain - what counts as given with a word alone.
 */
export function readChoice<TWord extends string>(
  value: unknown,
  words: readonly TWord[],
  plain: unknown,
): Choice<TWord> | undefined {
  const [[key, given] = [value, plain], ...others] = isRecord(value) ? Object.entries<unknown>({ ...value }) : [];
  const word = words.find((one) => one === key);
  return word === undefined || others.length > 0 ? undefined : { word, given };
}
