import { callerKey } from "../../catalog/caller-key.ts";
import type { Caller } from "../../catalog/caller.ts";
import type { Refused } from "../admission.ts";

/** How many bytes of bodies there may be at once: in all, of one caller who is known, and of all who are not. */
export interface ByteBounds {
  readonly all: number;
  readonly perPrincipal: number;
  readonly anonymous: number;
}

const mebibyte = 1024 * 1024;

/** The bounds of a server whose bodies have a size at most: whatever that is, eight callers may send some at once. */
export function toByteBounds(maxBytes: number): ByteBounds {
  const perPrincipal = Math.max(32 * mebibyte, maxBytes);
  const all = 8 * perPrincipal;
  return { all, perPrincipal, anonymous: all / 2 };
}

/** The bytes of one body, counted as they come, for as long as anybody holds them. */
export class HeldBytes {
  /** Why there was no room for more, once there was none. */
  refused: Refused | undefined;
  readonly #budget: ByteBudget;
  readonly #caller: Caller;
  #bytes = 0;
  #holders = 0;

  constructor(budget: ByteBudget, caller: Caller) {
    this.#budget = budget;
    this.#caller = caller;
  }

  /** Counts bytes that have come. `false`: there is no room for them. */
  readonly take = (bytes: number): boolean => {
    this.refused = this.#budget.add(this.#caller, bytes);
    if (this.refused !== undefined) return false;
    this.#bytes += bytes;
    return true;
  };

  /** Holds them, until what it returns is called, and everybody else's as well. That is callable twice. */
  hold(): () => void {
    let isHeld = true;
    this.#holders += 1;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders -= 1;
      if (this.#holders > 0) return;
      this.#budget.remove(this.#caller, this.#bytes);
      this.#bytes = 0;
    };
  }
}

/**
 * Counts what the bodies take that are read, and whose requests wait or run. How many requests there may be is bounded
 * besides: each of a few may be large. Nothing is kept of who has none. Needs no disposing.
 */
export class ByteBudget {
  readonly #bounds: ByteBounds;
  readonly #ofCallers = new Map<string, number>();
  #taken = 0;

  constructor(bounds: ByteBounds) {
    this.#bounds = bounds;
  }

  /** How many there are. */
  get taken(): number {
    return this.#taken;
  }

  /** Opens the count of one body of a caller's. */
  open(caller: Caller): HeldBytes {
    return new HeldBytes(this, caller);
  }

  /** Adds to what a caller has, or says which bound is in the way: their own first, as it says nothing of the others. */
  add(caller: Caller, bytes: number): Refused | undefined {
    const { all, anonymous, perPrincipal } = this.#bounds;
    const own = (this.#ofCallers.get(callerKey(caller)) ?? 0) + bytes;
    const limit = caller.isAnonymous ? anonymous : perPrincipal;
    if (own > limit) return { scope: "principal", limit };
    if (this.#taken + bytes > all) return { scope: "global", limit: all };
    this.#taken += bytes;
    this.#ofCallers.set(callerKey(caller), own);
    return undefined;
  }

  /** Takes back what was added. */
  remove(caller: Caller, bytes: number): void {
    this.#taken -= bytes;
    const left = (this.#ofCallers.get(callerKey(caller)) ?? 0) - bytes;
    if (left > 0) this.#ofCallers.set(callerKey(caller), left);
    else this.#ofCallers.delete(callerKey(caller));
  }
}
