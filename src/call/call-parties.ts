import type { ClientAsk } from "../catalog/asking.ts";
import type { NestedCall, OnAbort, ToolEntry } from "../catalog/entry.ts";
import type { ToolOutcome } from "../catalog/outcome.ts";
import type { JsonObject } from "../schema/json.ts";
import type { CallContext } from "./call-context.ts";

/** Calls tools as parts of a call. */
export interface Nester {
  /** Never rejects. */
  nest(above: CallContext, by: ToolEntry, nested: NestedCall): Promise<ToolOutcome>;
  /** Returns whether the user is asked before a tool runs. */
  isConfirmed(entry: ToolEntry): boolean;
}

/** Asks the clients of calls. */
export interface Asker {
  /** As {@link EntryCall.ask}. */
  ask(call: CallContext, key: string, ask: ClientAsk): Promise<JsonObject>;
  /** Tells the author that what a call was to say beside its answer is left out. */
  leftOut(call: CallContext): void;
  /** Returns the id of a run, the same in each round of a call. */
  runIdOf(call: CallContext): string;
}

/** The time of a call whose client is asked. */
export interface HeldTime {
  /** For how many questions it stands still now. */
  count: number;
  /** Since when, as `performance.now()` counts it. */
  since: number;
  /** How long it has stood before. */
  ms: number;
}

/** What a call is a part of. */
export interface PartOf {
  readonly call: CallContext;
  /** When it must be over besides, in milliseconds as `performance.now()` counts them. */
  deadlineAt?: number | undefined;
  /** Whether `deadlineAt` holds although the client is being asked. @default false */
  readonly countsQuestions?: boolean | undefined;
  /** What becomes of it when that call ends before it, once it has started. */
  readonly onAbort?: OnAbort | undefined;
  /** Whether it ends when the client drops the connection that the call above it was made on. Default `false`. */
  readonly endsOnDrop?: boolean | undefined;
  /** Told what is said beside its answer, instead of that call. Must not throw. */
  readonly onMeta?: NestedCall["onMeta"];
  /** Whether it is made by other rights than those of the caller above: its `_meta` is not passed on to them. */
  readonly isForTool?: boolean | undefined;
}
