import type { SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";

/** A question that was asked within a call, under one key. */
export interface AskedHere {
  readonly digest: string;
  readonly answer: Promise<JsonObject>;
}

/** A question that its client has been sent. */
export interface OpenQuestion {
  /** Names the question in messages: `the form "title"`. */
  readonly name: string;
  /** When it was sent, as `performance.now()` counts it. */
  readonly since: number;
}

/** How much of a digest stands in the name of a place. */
const placeLength = 12;

/** The questions and nested calls of one call. Made for calls that ask or nest only. */
export class CallTrail {
  /** The place of the call within the host's call, the same in each round. */
  readonly place: string;
  /** By key. */
  readonly asked: Map<string, AskedHere> = new Map();
  /** Whether a question of the call, or of a call within it, ended the round. */
  isBlocked = false;
  readonly #counts = new Map<string, number>();
  readonly #stops = new Set<() => void>();
  readonly #waiting = new Map<(error: SurfaceError) => void, OpenQuestion | undefined>();

  constructor(place = "") {
    this.place = place;
  }

  /** Returns the place of a call within this one: the digest of the call, and its number among equal calls. */
  placeOf(digest: string): string {
    const short = digest.slice(0, placeLength);
    const count = (this.#counts.get(short) ?? 0) + 1;
    this.#counts.set(short, count);
    return `${this.place}${short}.${count}/`;
  }

  /** The question that has been open longest; `undefined` if no question has been sent and is unanswered. */
  get openQuestion(): OpenQuestion | undefined {
    return [...this.#waiting.values()].find((question) => question !== undefined);
  }

  /**
   * Calls `over` if the call ends before there is an answer. Returns a function that says that there is one.
   *
   * @param question - left out for a question that is not sent while the call waits.
   */
  wait(over: (error: SurfaceError) => void, question?: OpenQuestion): () => void {
    this.#waiting.set(over, question);
    return () => void this.#waiting.delete(over);
  }

  /** Calls `stop` when the call is over. Returns what calls it before, once. */
  listen(stop: () => void): () => void {
    const once = (): void => {
      if (this.#stops.delete(once)) stop();
    };
    this.#stops.add(once);
    return once;
  }

  /** The call is over: nobody waits for an answer any more, or listens to anything. */
  end(error: SurfaceError): void {
    const waiting = [...this.#waiting.keys()];
    this.#waiting.clear();
    for (const over of waiting) over(error);
    for (const stop of this.#stops) stop();
  }
}
