import { canonical } from "../owner/canonical.ts";
import { toReason } from "../owner/to-reason.ts";
import type { Reading, Staleness } from "../reading.ts";
import { isRelayed } from "../relayed.ts";

/** Codes that say where things stand, and yet may be those of one item alone: it may be too large, or its key refused. */
const itemCodes: ReadonlySet<string> = new Set(["FRAME_TOO_LARGE", "VALIDATION_ERROR"]);

/** Whether an item is to be listed, as far as that is known. */
export interface Verdict {
  readonly passes: boolean;
  readonly stale: Staleness | undefined;
  /** Whether it could not be looked at this time. */
  readonly isOld: boolean;
}

function isOfOneItem(cause: unknown): boolean {
  return !isRelayed(cause) || itemCodes.has(cause.code);
}

/** Which items of a collection pass: an item that cannot be looked at keeps its last verdict, and is left out without one. */
export class Verdicts {
  readonly #passes: (value: unknown, key: unknown) => boolean;
  readonly #known = new Map<string, Verdict>();
  #faults: unknown[] = [];

  /** @param passes - the author's, and may throw. */
  constructor(passes: (value: unknown, key: unknown) => boolean) {
    this.#passes = passes;
  }

  /** Looks at an item. Never throws. */
  of(key: unknown, { value, stale }: Reading): Verdict {
    try {
      const verdict = { passes: value !== undefined && this.#passes(value, key), stale, isOld: false };
      this.#known.set(canonical(key), verdict);
      return verdict;
    } catch (cause) {
      return this.#keep(key, cause);
    }
  }

  /** The verdict on an item that could not be had. @throws the cause, when that is not of this item alone. */
  without(key: unknown, cause: unknown): Verdict {
    if (isOfOneItem(cause)) return this.#keep(key, cause);
    throw cause;
  }

  /** Forgets the items that are not there any more. */
  keepOnly(keys: readonly unknown[]): void {
    const ids = new Set(keys.map((key) => canonical(key)));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
  }

  /** What went wrong since the last time, of each item the first. */
  takeFaults(): readonly unknown[] {
    const faults = this.#faults;
    this.#faults = [];
    return faults;
  }

  #keep(key: unknown, cause: unknown): Verdict {
    const id = canonical(key);
    const before = this.#known.get(id);
    const since = before?.stale?.since ?? new Date().toISOString();
    const verdict = { passes: before?.passes ?? false, stale: { reason: toReason(cause), since }, isOld: true };
    this.#known.set(id, verdict);
    if (before?.isOld !== true) this.#faults.push(cause);
    return verdict;
  }
}
