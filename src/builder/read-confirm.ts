import { oneOf, withDefault } from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";
import type { ConfirmOptions, ConfirmRule } from "../tags/tool-options.ts";

/** The arguments of `.confirm()`. */
export interface GivenConfirm {
  readonly which: unknown;
  readonly options: ConfirmOptions | undefined;
}

const doing = "Calling confirm()";

/**
 * Reads the rule for calls of clients that cannot ask their user.
 *
 * @param known - the rule of a former call.
 * @throws SurfaceError `INVALID_OPTION`, also for a second call.
 */
export function readConfirm(known: ConfirmRule | undefined, { which, options = {} }: GivenConfirm): ConfirmRule {
  if (known !== undefined) throw invalidOption(doing, "it was called already; once is enough");
  if (which !== "mutating") {
    throw invalidOption(doing, 'what users confirm must be "mutating": tools that may change something');
  }
  return readOptions(options, { otherwise: withDefault(oneOf("refuse", "allow"), "refuse") }, doing).otherwise;
}
