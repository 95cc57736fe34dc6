import type { Caller } from "../../surface/caller.ts";
import type { AppRuntime } from "../../mcp/servable-app.ts";

const nothing: readonly string[] = Object.freeze([]);

/** What somebody may do to things, action by action. No name has a control character between its parts. */
function* grantsOf({ resources = {} }: Caller): Iterable<string> {
  for (const [name, actions] of Object.entries(resources)) for (const action of actions) yield `${name}\0${action}`;
}

/**
 * What those who have asked for something in one session were granted. What came of it may be told on the session's streams,
 * so who reads these needs all of it: a token of the same caller's that was granted less reads nothing by way of the session
 * that it may not read itself.
 */
export class SessionScopes {
  readonly #known: ReadonlySet<string> | undefined;
  readonly #needed = new Set<string>();
  /** What was granted of the application's own things. No consent gives it to who lacks it. */
  readonly #grants = new Set<string>();
  /** Who has begun to read, and may do so still. */
  #readers: Caller[] = [];

  /** Whatever else a caller was granted than what the app asks for is nothing to it; where that may change, all of it counts. */
  constructor({ scopes, changing }: Pick<AppRuntime, "scopes" | "changing">) {
    this.#known = changing.has("tools") ? undefined : new Set(scopes.all);
  }

  /** Somebody asks for something. Says whether somebody who reads lacks some of what they were granted. */
  asked(caller: Caller): boolean {
    const before = this.#needed.size + this.#grants.size;
    for (const scope of caller.scopes) if (this.#known?.has(scope) !== false) this.#needed.add(scope);
    for (const grant of grantsOf(caller)) this.#grants.add(grant);
    if (this.#needed.size + this.#grants.size === before) return false;
    const left = this.#readers.filter((reader) => this.#lack(reader) !== undefined);
    if (left.length > 0) this.#readers = [];
    return left.length > 0;
  }

  /** Somebody wants to read. `undefined`: they may; else all the scopes that it takes, none of them where no scope would help. */
  read(caller: Caller): readonly string[] | undefined {
    const lack = this.#lack(caller);
    if (lack !== undefined) return lack;
    // Of those who were granted the same, one says it all.
    if (!this.#readers.some((reader) => isSame(reader, caller))) this.#readers.push(caller);
    return undefined;
  }

  #lack(caller: Caller): readonly string[] | undefined {
    if (this.#grants.size > 0) {
      const own = new Set(grantsOf(caller));
      for (const grant of this.#grants) if (!own.has(grant)) return nothing;
    }
    const isShort = [...this.#needed].some((scope) => !caller.scopes.includes(scope));
    return isShort ? [...this.#needed].toSorted() : undefined;
  }
}

function isSame(one: Caller, other: Caller): boolean {
  const isScoped = one.scopes.length === other.scopes.length;
  return isScoped && one.scopes.every((scope) => other.scopes.includes(scope)) && isGrantedSame(one, other);
}

function isGrantedSame(one: Caller, other: Caller): boolean {
  if (one.resources === other.resources) return true;
  const [ours, theirs] = [new Set(grantsOf(one)), new Set(grantsOf(other))];
  return ours.size === theirs.size && [...ours].every((grant) => theirs.has(grant));
}
