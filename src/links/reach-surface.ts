import { SurfaceError } from "../errors.ts";
import type { Scope } from "../spine/scope.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import { type Siblings, segmentsOf, siblingsOf } from "../surface/compose-surfaces.ts";
import { type Surface, memberOf } from "../surface/define-surface.ts";
import { kChannel, kScope, type AnyLiveSurface, type Served, liveSiblingsOf } from "../surface/implement-surface.ts";
import type { Member, Spec } from "../surface/member.ts";
import { createDropped, droppable } from "./droppable.ts";
import { SiblingChannel, splitKey } from "./sibling-channel.ts";

/** Where the schemas of a member stand, whatever its kind. */
const parts = ["key", "schema", "input", "output", "progress"] as const;

function mismatch(surface: string, problem: string): SurfaceError {
  return new SurfaceError("CONTRACT_MISMATCH", `Connecting to surface "${surface}": ${problem}`);
}

function toProblem(key: string, asked: Member, live: Member | undefined): string | undefined {
  if (live === asked) return undefined;
  if (live === undefined) return `the live surface has no member "${key}"`;
  if (live.kind !== asked.kind) return `"${key}" must be a ${asked.kind}, and is a ${live.kind} of the live surface`;
  const part = parts.find((name) => Reflect.get(asked, name) !== Reflect.get(live, name));
  if (part === undefined) return undefined;
  return `"${part}" of "${key}" must be the same schema object as that of the live surface, and is another one`;
}

/**
 * Refuses a live surface, in this process, that is not what is asked for: values would be checked by other schemas than
 * those that are shown. Schemas are compared by identity, which is all that can be known of them. Tags and words may
 * differ, and the live surface may have more members.
 *
 * @throws SurfaceError `CONTRACT_MISMATCH` naming the first member that differs.
 */
export function assertContract(asked: Surface<Spec>, live: Pick<ReachedSurface, "member">): void {
  for (const [key, member] of Object.entries(asked.members)) {
    const problem = toProblem(key, member, live.member(key));
    if (problem !== undefined) throw mismatch(asked.name, problem);
  }
}

/** What somebody who connects asks for. */
export interface AskedSurface {
  readonly name: string;
  /** Of a composed surface: the names of those that it was composed of, by what stands before their keys. */
  readonly segments: ReadonlyMap<string, string> | undefined;
}

/** What somebody who connects gets. */
export interface ReachedSurface {
  readonly channel: SurfaceChannel;
  /** The member that is there under a key. */
  member(key: string): Member | undefined;
  /** When this closes, the connection ends: that of what is connected to alone. */
  readonly scope: Scope;
}

/** What a surface is asked for by. */
export function toAsked(surface: Surface<Spec>): AskedSurface {
  return { name: surface.name, segments: segmentsOf(surface) };
}

/** The sibling of a name; where several have it, the one under the same segment, if any. */
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
    // One that is served alone takes the connection with it when it closes.
    channels.set(segment, live[kScope] === scope ? live[kChannel] : droppable(live));
  }
  return {
    channel: new SiblingChannel(channels),
    scope,
    member(key) {
      const found = splitKey(key, lives);
      return found === undefined ? undefined : memberOf(found.sibling.surface, found.key);
    },
  };
}

/** Those that can be connected to by name or as siblings: one that was composed and then implemented is no sibling. */
function toSiblings(served: Served): Siblings<AnyLiveSurface> {
  return liveSiblingsOf(served) ?? ("surface" in served ? new Map([[served.surface.name, served]]) : new Map());
}

/**
 * Finds what somebody who connects asks for: the live surface of that name, or those of the names that it was composed of,
 * as far as they are here.
 *
 * @throws SurfaceError `UNKNOWN_MEMBER` where nothing of it is here, `DROPPED` where it is one of several and was closed.
 */
export function reachSurface(served: Served, { name, segments }: AskedSurface): ReachedSurface {
  const siblings = toSiblings(served);
  const named = findLive("", name, siblings);
  // Composed of the same, and implemented as one.
  const isWhole = named !== undefined && siblingsOf(named.surface) !== undefined;
  const composed = segments === undefined || isWhole ? undefined : findSegments(segments, siblings);
  if (composed !== undefined) return toComposed(composed, served[kScope]);
  if (named === undefined) throw toUnknown(name, siblings);
  if (named !== served && named[kScope].closed) throw createDropped(name);
  return toReached(named);
}

function toUnknown(name: string, siblings: Siblings<AnyLiveSurface>): SurfaceError {
  const names = [...siblings.values()].map(({ surface }) => `"${surface.name}"`).join(" and ");
  return new SurfaceError("UNKNOWN_MEMBER", `Connecting to surface "${name}": this link reaches ${names}`);
}
