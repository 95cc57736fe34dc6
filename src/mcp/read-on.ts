import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { pullOrigin } from "../catalog/pull-tool-names.ts";
import { readResourceName } from "../catalog/read-resource-tool.ts";
import type { JsonObject } from "../schema/json.ts";
import type { ResolvedView } from "./resolved-view.ts";

/** The call of a tool that reads the next part of a large value, as a model writes it. */
export interface ReadOnCall {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** The tool of `.pull()`, and not one by hand of the same name. */
function isReader(tool: ToolEntry | undefined, caller: Caller): boolean {
  return tool?.origin === pullOrigin(readResourceName) && authorise(caller, tool) === undefined;
}

/** Returns the tool call that reads `uri`: `read_resource`, or a gateway's `call` of it. `undefined` where the caller has neither. */
export function toReadOnCall({ catalog, callable }: ResolvedView, caller: Caller, uri: string): ReadOnCall | undefined {
  if (isReader(catalog.tool(readResourceName), caller)) return { tool: readResourceName, arguments: { uri } };
  if (!isReader(callable.tool(readResourceName), caller)) return undefined;
  return { tool: "call", arguments: { calls: [{ tool: readResourceName, input: { uri } }] } };
}
