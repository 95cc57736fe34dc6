import type { FinalValue } from "./backend-protocol.ts";
import type { Stamp } from "./surface.ts";
import type { Way } from "./ways.ts";

/** One answer to one request. Times are of the clock that all processes share. */
export interface Answer {
  readonly at: number;
  /** `ok`, or the code that it was refused with. */
  readonly outcome: string;
  /** What it tells of the backend's state, where it tells anything. */
  readonly stamp?: Stamp | undefined;
  /** The result object. */
  readonly result?: Readonly<Record<string, unknown>> | undefined;
}

/** One request, as its client knows it. */
export interface Asked {
  readonly id: string;
  readonly sort: "read" | "wait" | "mutation";
  /** The URI or the tool. */
  readonly what: string;
  readonly at: number;
  /** How long the answer may take. */
  readonly deadlineMs: number;
  /** All that came: there must be one. */
  readonly answers: Answer[];
}

/** Something that was done to the backend. */
export interface Strike {
  readonly kind: "kill" | "stop and kill" | "end" | "kill at start";
  readonly at: number;
  /** When the process was gone. */
  readonly overAt: number;
}

/** A backend that took over. */
export interface Restart {
  readonly gen: number;
  readonly at: number;
  readonly listeningAt: number;
}

/** A line of the backend's record: a mutation that it took up, or applied. */
export interface JournalLine {
  readonly what: "taken" | "applied";
  readonly id: string;
}

/** What a follower of one URI saw. */
export interface ViewHistory {
  /** Names it: its URI, and how it follows. */
  readonly name: string;
  readonly uri: string;
  /** When it was told that it is subscribed, and will hear of every change. */
  readonly joins: readonly number[];
  /** When it was told that there is something new. */
  readonly notices: readonly number[];
  /** What it has read since: the text, `null` for nothing. */
  readonly reads: readonly { readonly at: number; readonly text: string | null }[];
  /** What it takes for the newest value once everything is quiet. */
  readonly text: string | null | undefined;
}

/** What one who waits for each ring, with a cursor, was told. */
export interface Ring {
  readonly at: number;
  /** Left out where there was none in time. */
  readonly rung?: Stamp | undefined;
  readonly missed: number;
  readonly isReset: boolean;
}

/** All that is known of one cycle. */
export interface CycleHistory {
  readonly cycle: number;
  readonly way: Way;
  readonly asked: readonly Asked[];
  readonly journal: readonly JournalLine[];
  readonly strikes: readonly Strike[];
  readonly restarts: readonly Restart[];
  readonly views: readonly ViewHistory[];
  readonly rings: readonly Ring[];
  /** What there was when everything was quiet, as the backend knows it. */
  readonly finals: readonly FinalValue[];
  /** The same, read through the face. */
  readonly lastReads: ReadonlyMap<string, string | null>;
  /** What came from the face and is no answer, no notice, or nobody's. */
  readonly strays: readonly string[];
  /** How much of the load was unanswered when the backend was struck. */
  readonly inFlight: number;
}

/** Milliseconds that an outage may last for reads to outlive it: they wait for 5 s, of which dialling again takes up to one. */
const maxOutageMs = 3000;

/** Whether the next backend listened so soon that no read may fail. On a busy machine a process can take longer to start. */
export function isBackSoon({ strikes, restarts }: CycleHistory): boolean {
  const [strike] = strikes;
  const [restart] = restarts;
  return strike === undefined || restart === undefined || restart.listeningAt - strike.at <= maxOutageMs;
}

/** Something that must not be, with the story of what it happened to. */
export interface Violation {
  readonly check: string;
  /** The id or URI. */
  readonly subject: string;
  readonly text: string;
  readonly story: readonly string[];
}
