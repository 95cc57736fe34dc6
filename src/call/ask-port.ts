import type { AskKind, AskRecord, ClientAsk } from "../catalog/asking.ts";
import type { JsonObject } from "../schema/json.ts";

/** What a call goes on from that had ended with questions. */
export interface Resumed {
  readonly record: AskRecord;
  readonly answers: Readonly<Record<string, JsonObject>>;
  /** Takes it for used, once. Asked when the call may run and before anything does; unless it says `true`, nothing runs. */
  readonly claim?: (() => boolean | Promise<boolean>) | undefined;
}

/** How the client of a call is asked. */
export interface AskPort {
  /** What it says that it can be asked. */
  readonly kinds: ReadonlySet<AskKind>;
  /**
   * Sends a question and resolves with the answer. Rejects with a `Refusal` `ASK_FAILED`, or when the signal fires; then it takes
   * the question back. Left out where nothing can be sent: then a call that asks ends with its questions.
   */
  readonly push?: ((ask: ClientAsk, signal: AbortSignal) => Promise<JsonObject>) | undefined;
  /** Told when the client says that its roots are others. Left out where it never does. Returns what stops it. */
  readonly onRoots?: ((changed: () => void) => () => void) | undefined;
  /** What the call had come to when it ended with questions, and what its client has answered since, by key. */
  readonly resumed?: Resumed | undefined;
}
