import { SurfaceError } from "../errors.ts";
import { OwnedIterator } from "../spine/owned-iterator.ts";
import type { Scope } from "../spine/scope.ts";
import type { Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../surface/channel.ts";
import { siblingNamesOf, type Siblings, siblingsOf } from "../surface/compose-surfaces.ts";
import { memberOf, type Surface } from "../surface/define-surface.ts";
import { type AnyLiveSurface, kChannel, kScope, liveSiblingsOf, type Served } from "../surface/implement-surface.ts";
import type { Member, Spec } from "../surface/member.ts";
import { isRelayed, RelayedError } from "../surface/relayed.ts";
import { tagOf } from "../tags/tag-of.ts";

const parts = ["key", "schema", "input", "output", "progress"] as const;

/** Creates the error of a surface that does not fit its link. */
export function mismatch(surface: string, problem: string): SurfaceError {
  return new SurfaceError("CONTRACT_MISMATCH", `Cannot connect to surface "${surface}": ${problem}`);
}

function toProblem(key: string, asked: Member, live: Member | undefined): string | undefined {
  if (live === asked) return undefined;
  if (live === undefined) return `the live surface has no member "${key}"`;
  if (live.kind !== asked.kind) return `"${key}" must be a ${asked.kind}, and is a ${live.kind} of the live surface`;
  const part = parts.find((name) => Reflect.get(asked, name) !== Reflect.get(live, name));
  if (part === undefined) return undefined;
  return `"${part}" of "${key}" must be the same schema object as that of the live surface, and is another one`;
}

/** Refuses a live surface with other schemas, by identity: Standard Schema has no other comparison. @throws `CONTRACT_MISMATCH`. */
export function assertContract(asked: Surface<Spec>, live: Pick<ReachedSurface, "member">): void {
  for (const [key, member] of Object.entries(asked.members)) {
    const problem = toProblem(key, member, live.member(key));
    if (problem !== undefined) throw mismatch(asked.name, problem);
  }
}

/** The surface that a client wants. */
export interface SurfaceAddress {
  readonly name: string;
  /** The names of the siblings of a composed surface, by segment. */
  readonly segments: ReadonlyMap<string, string> | undefined;
}

/** The live surface, or the siblings, that a client gets. */
export interface ReachedSurface {
  readonly channel: SurfaceChannel;
  member(key: string): Member | undefined;
  /** Ends the connection when it closes. */
  readonly scope: Scope;
}

/** Returns the address of a surface. */
export function addressOf(surface: Surface<Spec>): SurfaceAddress {
  return { name: surface.name, segments: siblingNamesOf(surface) };
}

const maxKeyLength = 128;

/** Splits a key of a composed surface. Its segment ends at one of its dots. */
function splitKey<TSibling>(key: string, siblings: Siblings<TSibling>) {
  // A far side may send a long text full of dots.
  if (key.length > maxKeyLength) return undefined;
  for (let dot = key.indexOf("."); dot !== -1; dot = key.indexOf(".", dot + 1)) {
    const sibling = siblings.get(key.slice(0, dot));
    if (sibling !== undefined) return { sibling, key: key.slice(dot + 1) };
  }
  return undefined;
}

/** Creates the channel of a composed surface. @param channels - the channels of the siblings, by segment. */
export function createSiblingChannel(channels: ReadonlyMap<string, SurfaceChannel>): SurfaceChannel {
  const find = (member: string) => {
    const found = splitKey(member, channels);
    if (found !== undefined) return found;
    throw new SurfaceError("UNKNOWN_MEMBER", `Cannot use "${member}": no sibling has such a member`);
  };
  return {
    request(operation) {
      const { sibling, key } = find(operation.member);
      return sibling.request(withMember(operation, key));
    },
    subscribe(operation) {
      const { sibling, key } = find(operation.member);
      return sibling.subscribe(withMember(operation, key));
    },
  };
}

/** Returns the same operation on another member. Copies field by field, which is faster than a spread. */
export function withMember<TVerb extends RequestVerb | SubscribeVerb>(
  { verb, argument, options }: Operation<TVerb>,
  member: string,
): Operation<TVerb> {
  return { verb, member, argument, options };
}

/** Returns the sibling of a name. If several have the name, returns the one with the same segment. */
function findLive(segment: string, name: string, siblings: Siblings<AnyLiveSurface>): AnyLiveSurface | undefined {
  // One live surface may stand under several segments.
  const named = [...new Set(siblings.values())].filter(({ surface }) => surface.name === name);
  const same = siblings.get(segment);
  if (same !== undefined && named.includes(same)) return same;
  return named.length === 1 ? named[0] : undefined;
}

function findSegments(
  segments: ReadonlyMap<string, string>,
  siblings: Siblings<AnyLiveSurface>,
): ReadonlyMap<string, AnyLiveSurface> | undefined {
  const found = new Map<string, AnyLiveSurface>();
  for (const [segment, name] of segments) {
    const live = findLive(segment, name, siblings);
    if (live !== undefined) found.set(segment, live);
  }
  return found.size === 0 ? undefined : found;
}

function toReached(live: AnyLiveSurface): ReachedSurface {
  const { surface, [kChannel]: channel, [kScope]: scope } = live;
  return { channel, scope, member: (key) => memberOf(surface, key) };
}

function toComposed(lives: ReadonlyMap<string, AnyLiveSurface>, scope: Scope): ReachedSurface {
  const channels = new Map<string, SurfaceChannel>();
  for (const [segment, live] of lives) {
    // A surface that is served alone ends the connection when it closes.
    channels.set(segment, live[kScope] === scope ? live[kChannel] : toDroppableChannel(live));
  }
  return {
    channel: createSiblingChannel(channels),
    scope,
    member(key) {
      const found = splitKey(key, lives);
      return found === undefined ? undefined : memberOf(found.sibling.surface, found.key);
    },
  };
}

/** Returns the live surfaces that a client can name. A composed surface that was implemented as one has no siblings here. */
function toSiblings(served: Served): Siblings<AnyLiveSurface> {
  return liveSiblingsOf(served) ?? ("surface" in served ? new Map([[served.surface.name, served]]) : new Map());
}

/** Finds the live surfaces of an address. @throws SurfaceError `UNKNOWN_MEMBER` if none is served here, `DROPPED` for a closed one. */
export function reachSurface(served: Served, { name, segments }: SurfaceAddress): ReachedSurface {
  const siblings = toSiblings(served);
  const named = findLive("", name, siblings);
  // A composed surface that was implemented as one.
  const isWhole = named !== undefined && siblingsOf(named.surface) !== undefined;
  const composed = segments === undefined || isWhole ? undefined : findSegments(segments, siblings);
  if (composed !== undefined) return toComposed(composed, served[kScope]);
  if (named === undefined) throw toUnknown(name, siblings);
  if (named !== served && named[kScope].closed) throw createDropped(name);
  return toReached(named);
}

function toUnknown(name: string, siblings: Siblings<AnyLiveSurface>): SurfaceError {
  const names = [...siblings.values()].map(({ surface }) => `"${surface.name}"`).join(" and ");
  return new SurfaceError("UNKNOWN_MEMBER", `Cannot connect to surface "${name}": this link reaches ${names}`);
}

/** Creates the error of an operation on a live surface that was closed while its siblings go on. */
export function createDropped(name: string): SurfaceError {
  return new RelayedError("DROPPED", `Cannot use surface "${name}": it was dropped`);
}

/** Returns whether an error says that a live surface of this process closed during an operation. */
export function isClosedDuringUse(cause: unknown): boolean {
  return cause instanceof SurfaceError && (cause.code === "CLOSED" || cause.code === "ABORTED") && !isRelayed(cause);
}

/** Returns whether a request may be sent twice. */
export function isRead(member: Parameters<typeof tagOf>[0] | undefined, operation: Operation<RequestVerb>): boolean {
  if (operation.verb !== "call") return true;
  return operation.options.idempotent ?? (member !== undefined && tagOf(member).effect === "read");
}

/** Returns the channel of a live surface with siblings: once that closes, its operations fail with `DROPPED` or `OUTCOME_UNKNOWN`. */
function toDroppableChannel({ surface, [kScope]: scope, [kChannel]: channel }: AnyLiveSurface): SurfaceChannel {
  const toCut = (operation: Operation<RequestVerb>): SurfaceError => {
    const { member: key } = operation;
    if (isRead(memberOf(surface, key), operation)) return createDropped(surface.name);
    const message = `Cannot call "${key}" of surface "${surface.name}": it was dropped before the answer; the call may have taken effect`;
    return new RelayedError("OUTCOME_UNKNOWN", message);
  };
  return {
    async request(operation) {
      if (scope.closed) throw createDropped(surface.name);
      try {
        return await channel.request(operation);
      } catch (cause) {
        throw scope.closed && isClosedDuringUse(cause) ? toCut(operation) : cause;
      }
    },
    subscribe(operation) {
      const { signal } = operation.options;
      const isDropped = (): boolean => scope.closed && signal?.aborted !== true;
      return new OwnedIterator({
        open() {
          if (isDropped()) throw createDropped(surface.name);
          return channel.subscribe(operation);
        },
        mask: (cause) => (isDropped() && isClosedDuringUse(cause) ? createDropped(surface.name) : cause),
        // A consumer would take the end of the iteration for the end of the stream.
        cut: () => (isDropped() ? createDropped(surface.name) : undefined),
        signal: undefined,
      });
    },
  };
}
