import type { Completer, EntryGuard, Filled } from "../catalog/entry.ts";

/** What is to be completed. */
export interface Completion extends EntryGuard {
  /** Named in the owner's log, for example `argument "city" of prompt "weather"`. */
  readonly where: string;
  /** Left out where nobody proposes anything. */
  readonly complete: Completer | undefined;
  readonly begun: string;
  readonly filled: Filled;
}
