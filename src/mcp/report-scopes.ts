import { randomUUID } from "node:crypto";
import type { EntryGuard } from "../catalog/entry.ts";
import { clipText } from "../schema/visible-text.ts";
import type { Caller } from "../surface/caller.ts";
import type { FaultReporter } from "../surface/fault.ts";

/** The maximum number of reports of one app: a verifier may grant other scopes with every token. */
const maxReports = 32;
const maxListBytes = 200;

function toList(scopes: readonly string[]): string {
  return clipText(scopes.map((scope) => `"${scope}"`).join(", "), maxListBytes);
}

/** Returns all scopes that entries may require. */
function scopesOf(guards: readonly EntryGuard[]): readonly string[] {
  const all = guards.flatMap(({ scopes, requires }) => [...scopes, ...(requires?.scopesAny ?? [])]);
  return [...new Set(all)].toSorted();
}

/**
 * Creates the function that reports a signed-in caller with an empty list, of whose scopes no entry requires any:
 * most often, the tokens have the scopes of another surface. Reports each set of scopes once. The caller receives an empty list,
 * because a reason would reveal hidden entries.
 */
export function createScopeReporter(report: FaultReporter): (caller: Caller, guards: readonly EntryGuard[]) => void {
  const reported = new Set<string>();
  return ({ isAnonymous, scopes }, guards) => {
    // A server tells about anonymous callers when it starts.
    if (isAnonymous || reported.size >= maxReports) return;
    const required = scopesOf(guards);
    const list = toList(scopes.toSorted());
    if (reported.has(list) || scopes.some((scope) => required.includes(scope))) return;
    reported.add(list);
    const granted = list === "" ? "no scopes" : `the scopes ${list}`;
    const cause = `nothing is listed for a caller with ${granted}: the entries require ${toList(required)}; grant these, or change "scopes" of the entries (reported once)`;
    report({ correlationId: randomUUID(), where: "the scopes of callers", cause });
  };
}
