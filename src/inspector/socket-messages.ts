import type { JsonValue } from "../schema/json.ts";
import type { HistoryPage, PageEntry, PageExposure, PageSnapshot, PageUpdate } from "./messages.ts";

/** The version of these messages. A client refuses every other one. */
export const socketVersion = 1;

/**
 * The answers of the requests over the socket of an inspector. None can decide a confirmation: agents with a shell can connect, too.
 */
export interface SocketAnswers {
  readonly history: HistoryPage;
  readonly exposure: PageExposure;
  /** `undefined`: nothing has the id. */
  readonly entry: PageEntry | undefined;
  readonly cancel: boolean;
}

/** A request over the socket of an inspector. */
export type SocketOperation = keyof SocketAnswers;

/** A line from the inspector to a page: first a snapshot, and a further one after updates that were not sent. */
export type SocketMessage =
  | { readonly version: number; readonly snapshot: PageSnapshot }
  | { readonly update: PageUpdate }
  | SocketAnswer;

/** The answer of one request. Without `answer`, nothing has the name or id. */
export interface SocketAnswer {
  readonly id: number;
  readonly answer?: JsonValue;
  readonly isFault?: true;
}
