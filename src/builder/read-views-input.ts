import { flag, withDefault } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { isSource } from "../views/create-views.ts";
import { readViewRules } from "../views/read-view-rules.ts";
import type { ViewsInput } from "../views/view-rules.ts";
import type { AppDefinition } from "./app-definition.ts";
import type { ViewsOptions } from "./view-names.ts";

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
