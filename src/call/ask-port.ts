import type { AskKind, AskRecord, ClientAsk } from "../catalog/asking/asking.ts";
import type { JsonObject } from "../schema/json.ts";

/** The earlier rounds of a call that ended with questions. */
export interface Resumed {
  readonly record: AskRecord;
  /** By the keys of the questions that ended the last round. */
  readonly answers: Readonly<Record<string, JsonObject>>;
}

/** Asks the client of one call. */
export interface AskPort {
  /** The kinds of questions that the client declared. */
  readonly kinds: ReadonlySet<AskKind>;
  /**
   * Sends a question and resolves with the answer. Rejects with a `Refusal` `ASK_FAILED`, or when the signal fires, and then cancels
   * the question at the client. Left out from 2026-07-28 on: a question ends the call.
   */
  readonly push?: ((ask: ClientAsk, signal: AbortSignal) => Promise<JsonObject>) | undefined;
  /** Calls `changed` when the client says that its roots changed. Returns a function that stops it. Left out: the client never says so. */
  readonly onRoots?: ((changed: () => void) => () => void) | undefined;
  readonly resumed?: Resumed | undefined;
}
