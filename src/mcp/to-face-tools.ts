import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { createGatewayTools } from "../gateway/create-gateway-tools.ts";

/** The tools that a gateway over a catalog consists of, as a replay of it names them: nobody calls these. */
export function toFaceTools(shown: Catalog): readonly ToolEntry[] {
  const isGranted = (entry: ToolEntry, caller: Caller): boolean => authorise(caller, entry) === undefined;
  return createGatewayTools({ catalog: () => shown, isGranted });
}
