import type { ToolEntry } from "../catalog/entry.ts";
import type { JsonObject } from "../schema/json.ts";
import { checkInput } from "../surface/check-value.ts";
import { assertMayAct } from "./assert-may-act.ts";
import type { CallContext } from "./call-context.ts";

async function assertMay(entry: ToolEntry, args: JsonObject, { caller }: CallContext): Promise<void> {
  const decoded = entry.input.decode(args);
  const input: unknown =
    entry.owner === "surface" ? decoded : await checkInput(entry.owner.input, decoded, entry.origin);
  await assertMayAct(entry, caller, { args, input });
}

/**
 * Refuses what a call came to before to a caller who may not act on the thing that it names by now. `undefined`: its tool asks for
 * no such right. Rejects with a `Refusal` `NOT_FOUND`, or with a `SurfaceError` `VALIDATION_ERROR`.
 */
export function assertMayRecall(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<void> | undefined {
  return entry.requires?.resource?.argument === undefined ? undefined : assertMay(entry, args, call);
}
