import { flag, oneOf, withDefault } from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";
import type { ConfirmOptions, ConfirmRule } from "../tags/tool-options.ts";
import { isSource } from "../views/create-views.ts";
import { readViewRules } from "../views/read-view-rules.ts";
import type { ViewsInput } from "../views/view-rules.ts";
import type { AppDefinition } from "./app-definition.ts";
import type { ViewsOptions } from "./view-names.ts";

/**
 * Refuses an argument of `.context()` that is no function, a second call, and a call after handlers were added.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertContext({ context, tools, prompts, resources }: AppDefinition, factory: unknown): void {
  const doing = "Calling context()";
  if (typeof factory !== "function") {
    throw invalidOption(doing, "it takes a function that makes what handlers have of their own, for each call");
  }
  if (context !== undefined) throw invalidOption(doing, "it was called already; once is enough");
  if (tools.size + prompts.size + resources.size > 0) {
    const before = "call it before tools(), prompts() and resources()";
    throw invalidOption(doing, `there are handlers that were written without it; ${before}`);
  }
}

/** The arguments of `.confirm()`. */
export interface GivenConfirm {
  readonly which: unknown;
  readonly options: ConfirmOptions | undefined;
}

/**
 * Reads the rule for calls of clients that cannot ask their user.
 *
 * @param known - the rule of a former call.
 * @throws SurfaceError `INVALID_OPTION`, also for a second call.
 */
export function readConfirm(known: ConfirmRule | undefined, { which, options = {} }: GivenConfirm): ConfirmRule {
  const doing = "Calling confirm()";
  if (known !== undefined) throw invalidOption(doing, "it was called already; once is enough");
  if (which !== "mutating") {
    throw invalidOption(doing, 'what users confirm must be "mutating": tools that may change something');
  }
  return readOptions(options, { otherwise: withDefault(oneOf("refuse", "allow"), "refuse") }, doing).otherwise;
}

/**
 * Reads the arguments of `.views()`. Rules are read and copied at once; those of a source are read when the app is opened.
 *
 * @throws SurfaceError `INVALID_OPTION` naming the rule and the field.
 */
export function readViewsInput(
  input: ViewsInput,
  options: Partial<ViewsOptions> = {},
): Required<Pick<AppDefinition, "views" | "replay">> {
  const { replay } = readOptions(options, { replay: withDefault(flag, false) }, "Calling views()");
  return { views: isSource(input) ? input : readViewRules(input), replay };
}
