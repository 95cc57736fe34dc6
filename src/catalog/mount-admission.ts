import { internalError, type FaultReporter } from "../surface/fault.ts";
import { diffLists, patchList, type ListDiff } from "./diff-lists.ts";
import { leftOut } from "./left-out.ts";
import { takenBy } from "./mounted-list.ts";

interface Owned {
  readonly origin: string;
}

/** What {@link Admission} takes. */
export interface AdmissionSetting<TEntry> {
  /** What no two of them may share, and nothing of the app itself. */
  readonly nameOf: (entry: TEntry) => string;
  /** What of the app itself has a name. */
  readonly ownerOf: (name: string) => Owned | undefined;
  /** What messages call that. */
  readonly called: string;
  readonly report: FaultReporter;
}

/**
 * Leaves of all that is mounted, of one sort, what has a name that nothing else has. What is left out is reported once, for as long
 * as it is.
 */
export class Admission<TEntry extends Owned> {
  readonly #setting: AdmissionSetting<TEntry>;
  /** Those that were left out because of something of another origin, and were told of. */
  #taken: ReadonlySet<TEntry> = new Set();
  #byName = new Map<string, TEntry>();
  #entries: readonly TEntry[] = [];
  #admitted: readonly TEntry[] = Object.freeze([]);

  constructor(setting: AdmissionSetting<TEntry>) {
    this.#setting = setting;
  }

  /** What is left of what there is now; the same list where that is the same. */
  admit(entries: readonly TEntry[]): readonly TEntry[] {
    const diff = diffLists(this.#entries, entries);
    this.#entries = entries;
    // Which of two of one name is left out is a matter of their order.
    if (this.#taken.size > 0 || !this.#patch(diff)) this.#admitAll(entries);
    return this.#admitted;
  }

  /** Whether each name is still that of one alone. */
  #patch(diff: ListDiff<TEntry>): boolean {
    const { nameOf, ownerOf } = this.#setting;
    for (const entry of diff.gone) this.#byName.delete(nameOf(entry));
    for (const entry of diff.come) {
      const text = nameOf(entry);
      if (this.#byName.has(text) || ownerOf(text) !== undefined) return false;
      this.#byName.set(text, entry);
    }
    this.#admitted = patchList(this.#admitted, diff);
    return true;
  }

  #admitAll(entries: readonly TEntry[]): void {
    const { nameOf, ownerOf, called, report } = this.#setting;
    const byName = new Map<string, TEntry>();
    const taken = new Set<TEntry>();
    for (const entry of entries) {
      const text = nameOf(entry);
      const first = ownerOf(text) ?? byName.get(text);
      if (first === undefined) {
        byName.set(text, entry);
        continue;
      }
      taken.add(entry);
      if (this.#taken.has(entry)) continue;
      internalError(leftOut(takenBy({ called, text }, entry, first), entry.origin), entry.origin, report);
    }
    this.#taken = taken;
    this.#byName = byName;
    this.#admitted = Object.freeze([...byName.values()]);
  }
}
