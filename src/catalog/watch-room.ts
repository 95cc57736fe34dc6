import { callerKey } from "../surface/caller-key.ts";
import type { Caller } from "../surface/caller.ts";

/** How many resources of an app callers may watch: fewer than a link carries at once. */
export const maxWatched = 2048;

/** How many one caller may watch who is known, so that nobody takes the room of all others. */
const maxForOne = maxWatched / 4;

/** What each caller who is known watches, for as long as they do. */
export class WatchRoom {
  /** By caller, then by what is watched: how often they do. */
  readonly #taken = new Map<string, Map<string, number>>();

  /** How many callers are kept count of. */
  get size(): number {
    return this.#taken.size;
  }

  /** Counts one watch of theirs. Returns what takes it back; to be called once. */
  take(caller: Caller, key: string): () => void {
    if (caller.isAnonymous) return () => {};
    const id = callerKey(caller);
    const theirs = this.#taken.get(id) ?? new Map<string, number>();
    this.#taken.set(id, theirs);
    theirs.set(key, (theirs.get(key) ?? 0) + 1);
    return () => {
      const left = (theirs.get(key) ?? 1) - 1;
      if (left > 0) return void theirs.set(key, left);
      theirs.delete(key);
      if (theirs.size === 0) this.#taken.delete(id);
    };
  }

  /** Whether a caller may watch these besides what they do. @param keys - `undefined` for what nobody watches yet. */
  hasRoom(caller: Caller, keys: readonly (string | undefined)[]): boolean {
    if (caller.isAnonymous) return true;
    const theirs = this.#taken.get(callerKey(caller));
    const more = keys.filter((key) => key === undefined || theirs?.has(key) !== true);
    return (theirs?.size ?? 0) + more.length <= maxForOne;
  }
}
