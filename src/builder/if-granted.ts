import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import type { EntryGuard } from "../catalog/entry.ts";

/** What a caller may use; `undefined` where they were not granted what it takes: it is not there for them. */
export function ifGranted<TEntry extends EntryGuard>(entry: TEntry | undefined, caller: Caller): TEntry | undefined {
  return entry === undefined || authorise(caller, entry) !== undefined ? undefined : entry;
}
