import { assertKnownOptions } from "../tags/assert-known-options.ts";
import { SurfaceError } from "../errors.ts";
import type { Source } from "../surface/source.ts";
import { readViewRules } from "../views/read-view-rules.ts";
import type { ViewRules, ViewsInput } from "../views/views-input.ts";
import type { AppDefinition } from "./app-definition.ts";
import type { ViewsOptions } from "./view-names.ts";

/** Whether rules come from a source, which may replace them, and are no views that are called like its methods. */
function isSource(input: ViewsInput): input is Source<ViewRules> {
  return (
    typeof input === "object" &&
    input !== null &&
    "get" in input &&
    typeof input.get === "function" &&
    "subscribe" in input &&
    typeof input.subscribe === "function"
  );
}

function readReplay(options: ViewsOptions | undefined): boolean {
  const doing = "Calling views()";
  if (options === undefined) return false;
  assertKnownOptions(options, ["replay"], doing);
  const replay: unknown = options.replay ?? false;
  if (typeof replay === "boolean") return replay;
  throw new SurfaceError("INVALID_OPTION", `${doing}: "replay" must be true or false`);
}

/**
 * What `.views()` is given -> what an app remembers of it: rules that are there are read now, and are not changed by what
 * becomes of them later; those of a source are read when the app is opened.
 *
 * @throws SurfaceError `INVALID_OPTION` naming the rule and the field.
 */
export function readViewsInput(
  input: ViewsInput,
  options?: ViewsOptions,
): Required<Pick<AppDefinition, "views" | "replay">> {
  return { views: isSource(input) ? input : readViewRules(input), replay: readReplay(options) };
}
