import { internalError, type FaultReporter } from "../surface/fault.ts";
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

  constructor(setting: AdmissionSetting<TEntry>) {
    this.#setting = setting;
  }

  /** What is left of what there is now. */
  admit(entries: readonly TEntry[]): readonly TEntry[] {
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
      if (!this.#taken.has(entry)) internalError(takenBy({ called, text }, entry, first), entry.origin, report);
    }
    this.#taken = taken;
    return [...byName.values()];
  }
}
