import type { Caller } from "../../catalog/caller.ts";

/**
 * What those who have asked for something in one session were granted. What came of it may be told on the session's streams,
 * so who reads these needs all of it: a token of the same caller's that was granted less reads nothing by way of the session
 * that it may not read itself.
 */
export class SessionScopes {
  readonly #known: ReadonlySet<string>;
  readonly #needed = new Set<string>();
  /** Who has begun to read, and may do so still. */
  #readers: Caller[] = [];

  /** @param known - what the app asks for; whatever else a caller was granted is nothing to it. */
  constructor(known: readonly string[]) {
    this.#known = new Set(known);
  }

  /** Somebody asks for something. Says whether somebody who reads lacks some of what they were granted. */
  asked({ scopes }: Caller): boolean {
    const before = this.#needed.size;
    for (const scope of scopes) if (this.#known.has(scope)) this.#needed.add(scope);
    if (this.#needed.size === before) return false;
    const left = this.#readers.filter((reader) => this.#lacks(reader));
    if (left.length > 0) this.#readers = [];
    return left.length > 0;
  }

  /** Somebody wants to read. `undefined`: they may; else all that it takes. */
  read(caller: Caller): readonly string[] | undefined {
    if (this.#lacks(caller)) return [...this.#needed].toSorted();
    // Of those who were granted the same, one says it all.
    if (!this.#readers.some((reader) => isSame(reader, caller))) this.#readers.push(caller);
    return undefined;
  }

  #lacks({ scopes }: Caller): boolean {
    for (const scope of this.#needed) if (!scopes.includes(scope)) return true;
    return false;
  }
}

function isSame(one: Caller, other: Caller): boolean {
  return one.scopes.length === other.scopes.length && one.scopes.every((scope) => other.scopes.includes(scope));
}
