import { isFunction, isObject } from "../options/is-object.ts";
import { flag, withDefault } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import type { Source } from "../surface/source.ts";
import { readViewRules } from "../views/read-view-rules.ts";
import type { ViewRules, ViewsInput } from "../views/views-input.ts";
import type { AppDefinition } from "./app-definition.ts";
import type { ViewsOptions } from "./view-names.ts";

/** Returns true for a source, which may replace its rules; false for views that have the names of its methods. */
function isSource(input: ViewsInput): input is Source<ViewRules> {
  return isObject(input) && isFunction(Reflect.get(input, "get")) && isFunction(Reflect.get(input, "subscribe"));
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
