import type { Source, ViewRules } from "surface-mcp";

import { createFace } from "../mcp.ts";
import type { CoordinatorOptions } from "../read-options.ts";
import { createRunnerFleet } from "./runner-fleet.ts";

/** The face of `mcp.ts`, with 500 operations of runners beside it, and rules about who sees what. */
export function createViewedFace(site: CoordinatorOptions, rules: Source<ViewRules>) {
  return createFace(site).mount("runners", createRunnerFleet()).views(rules);
}
