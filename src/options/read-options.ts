import { SurfaceError } from "../errors.ts";
import type { SurfaceErrorCode } from "../errors.ts";
import { assertKnownOptions } from "./known-names.ts";
import { problemOf, type Option, type OptionFields } from "./option.ts";

/** The names of the options that have a default. */
type Defaulted<TFields> = {
  [TName in keyof TFields]: TFields[TName] extends { readonly default: unknown } ? TName : never;
}[keyof TFields];

/** The options in force: those with a default are there. */
export type ReadOptions<TOptions, TFields> = TOptions & {
  readonly [TName in keyof TOptions & Defaulted<TFields>]-?: Exclude<TOptions[TName], undefined>;
};

/** Creates the error of options that do not fit. @param doing - the start of the message: `Serving over stdio`. */
export function invalidOption(doing: string, problem: string, code: SurfaceErrorCode = "INVALID_OPTION"): SurfaceError {
  return new SurfaceError(code, `${doing}: ${problem}`);
}

/**
 * Reads options by their schema: refuses unknown names and values that do not fit, and fills in defaults. Returns a copy that
 * holds each value as it was read once, so that a getter cannot answer something else later. Values are not copied.
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

/** Reads options as {@link readOptions} does, from an object that may have other fields too. */
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
