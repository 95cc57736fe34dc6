/** One of those that share a budget. */
export interface Budgeted {
  /** Whose it is; `undefined`: of somebody of whom nothing is known. */
  readonly owner: string | undefined;
  /** Throws away as much, or what there is, of what was sent already or of all; says how many bytes those were. */
  letGo(bytes: number, what: "sent" | "all"): number;
}

/** How much the sessions of one server keep together, in bytes. */
const defaultBytes = 64 * 1024 * 1024;

/**
 * What the logs of all sessions may keep together, and those of one caller who is known: a quarter of it. What is too much
 * goes from who has used theirs the longest ago, first what somebody was sent already. Needs no disposing.
 */
export class LogBudget {
  readonly #maxBytes: number;
  /** Those that keep anything; who has used theirs the longest ago comes first. */
  readonly #logs = new Set<Budgeted>();
  readonly #ofOwners = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number = defaultBytes) {
    this.#maxBytes = maxBytes;
  }

  /** How many bytes are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A log keeps more now. It was used. */
  add(log: Budgeted, bytes: number): void {
    this.#logs.delete(log);
    this.#logs.add(log);
    this.#count(log, bytes);
  }

  /** A log keeps less now. */
  remove(log: Budgeted, bytes: number): void {
    this.#count(log, -bytes);
  }

  /** A log is over, and keeps nothing any more. Callable twice. */
  leave(log: Budgeted): void {
    this.#logs.delete(log);
  }

  /** Has thrown away what is too much: of one's own owner, and of all. */
  trim({ owner }: Budgeted): void {
    if (owner !== undefined) {
      const excess = (this.#ofOwners.get(owner) ?? 0) - this.#maxBytes / 4;
      if (excess > 0) this.#letGo(excess, (log) => log.owner === owner);
    }
    const excess = this.#bytes - this.#maxBytes;
    if (excess > 0) this.#letGo(excess, () => true);
  }

  #letGo(excess: number, isMeant: (log: Budgeted) => boolean): void {
    // Who is told that something was thrown away may use theirs meanwhile.
    const logs = [...this.#logs].filter((log) => isMeant(log));
    let left = excess;
    for (const what of ["sent", "all"] as const) {
      for (const log of logs) if (left > 0) left -= log.letGo(left, what);
    }
  }

  #count({ owner }: Budgeted, bytes: number): void {
    this.#bytes += bytes;
    if (owner === undefined) return;
    const all = (this.#ofOwners.get(owner) ?? 0) + bytes;
    if (all > 0) this.#ofOwners.set(owner, all);
    else this.#ofOwners.delete(owner);
  }
}
