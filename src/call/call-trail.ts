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

/** What one call has asked and called so far. Made for calls that do, and no others. */
export class CallTrail {
  /** Where it stands among all within the call that a host made, the same when that is made again. */
  readonly place: string;
  /** By key. */
  readonly asked: Map<string, AskedHere> = new Map();
  /** Whether it, or a part of it, ends with a question. */
  isBlocked = false;
  readonly #counts = new Map<string, number>();
  readonly #stops = new Set<() => void>();
  readonly #waiting = new Map<(error: SurfaceError) => void, OpenQuestion | undefined>();

  constructor(place = "") {
    this.place = place;
  }

  /** Whether it waits for an answer. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** The place of a call within this one: by what is called with what, and the how many-eth of those it is. */
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
