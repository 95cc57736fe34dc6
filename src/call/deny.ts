import type { EntryGuard } from "../catalog/entry.ts";
import type { Denied } from "../catalog/outcome.ts";
import { authorise } from "./authorise.ts";
import type { CallContext } from "./call-context.ts";

/** What a caller who may not use an entry is told, whose call is over then; `undefined` for who may. */
export function deny(entry: EntryGuard, call: CallContext): Denied | undefined {
  const lack = authorise(call.caller, entry);
  if (lack === undefined) return undefined;
  call.finish();
  return { kind: "denied", scopes: lack.scopes };
}
