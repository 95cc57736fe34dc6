import type { Budget, Share } from "../../spine/budget.ts";
import type { Clock } from "../../spine/clock.ts";

/** Most requests for a place that wait in one queue. */
export const maxWaiting = 1024;

/** Receives a place that was taken, or `undefined` if there was none in time. */
export type OnPlace = (place: Share | undefined) => void;

interface Waiting {
  readonly key: string | undefined;
  readonly onPlace: OnPlace;
  stop: (() => void) | undefined;
}

/**
 * Hands out the places of a budget, and lets requests wait while all places are taken. A free place goes to the key that holds
 * the fewest, and there to the newest request: a burst of one sender then delays neither other senders nor its successors. Over
 * {@link maxWaiting} the oldest request of the key with the most waiting requests gets no place.
 */
export class PlaceQueue {
  readonly #budget: Budget;
  readonly #clock: Clock;
  readonly #waitMs: number;
  /** By key, the oldest first. */
  readonly #waiting = new Map<string | undefined, Waiting[]>();
  #count = 0;

  /** @param waitMs - longest wait of a request, in milliseconds. */
  constructor(budget: Budget, clock: Clock, waitMs: number) {
    this.#budget = budget;
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /** Takes a place, within the call if there is one. Returns a function that stops waiting. */
  take(key: string | undefined, onPlace: OnPlace): () => void {
    const waiting: Waiting = { key, onPlace, stop: undefined };
    if (this.#budget.hasRoom(key, 1)) {
      this.#grant(waiting);
      return () => {};
    }
    this.#add(waiting);
    if (this.#count > maxWaiting) this.#giveUpOne();
    return () => void this.#remove(waiting);
  }

  /** Gives a place back, and hands it to a request that waits. Callable twice. */
  release(place: Share): void {
    place.release();
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#settle(next);
  }

  #add(waiting: Waiting): void {
    const ofKey = this.#waiting.get(waiting.key);
    if (ofKey === undefined) this.#waiting.set(waiting.key, [waiting]);
    else ofKey.push(waiting);
    this.#count += 1;
    waiting.stop = this.#clock.after(this.#waitMs, () => this.#settle(waiting));
  }

  #remove(waiting: Waiting): boolean {
    const ofKey = this.#waiting.get(waiting.key) ?? [];
    const at = ofKey.lastIndexOf(waiting);
    if (at === -1) return false;
    ofKey.splice(at, 1);
    if (ofKey.length === 0) this.#waiting.delete(waiting.key);
    this.#count -= 1;
    waiting.stop?.();
    return true;
  }

  /** Ends a wait, with a place if there is room. */
  #settle(waiting: Waiting): void {
    if (this.#remove(waiting)) this.#grant(waiting);
  }

  /** Takes a place; the budget counts a refusal if there is no room. */
  #grant({ key, onPlace }: Waiting): void {
    const place = this.#budget.open(key);
    onPlace(place.take(1) === undefined ? place : undefined);
  }

  #next(): Waiting | undefined {
    let found: Waiting | undefined;
    let least = Infinity;
    for (const [key, ofKey] of this.#waiting) {
      const held = this.#budget.heldBy(key);
      if (held >= least || !this.#budget.hasRoom(key, 1)) continue;
      [found, least] = [ofKey.at(-1), held];
    }
    return found;
  }

  #giveUpOne(): void {
    let longest: readonly Waiting[] = [];
    for (const ofKey of this.#waiting.values()) if (ofKey.length > longest.length) longest = ofKey;
    const [oldest] = longest;
    if (oldest !== undefined) this.#settle(oldest);
  }
}
