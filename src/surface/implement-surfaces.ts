import { SurfaceError } from "../errors.ts";
import { Scope } from "../spine/scope.ts";
import { assertSegment, kSiblings, type Siblings } from "./compose-surfaces.ts";
import { kChannel, kScope, type LiveSurface } from "./implement-surface.ts";
import type { Spec } from "./member.ts";

/**
 * A live surface, whatever its members are. Not `LiveSurface<Spec>`: the compiler takes no other for one of those, since
 * it compares the two by their type parameter.
 */
export type AnyLiveSurface = Pick<LiveSurface<Spec>, keyof LiveSurface<Spec>>;

/** Several live surfaces that are served as one. Whoever made it closes it. */
export interface LiveSurfaces {
  /**
   * Ends the connections that were made through it. The live surfaces live on: whoever made them closes them. Callable
   * twice.
   */
  close(): Promise<void>;
  /** @internal */
  readonly [kSiblings]: Siblings<AnyLiveSurface>;
  /** @internal */
  readonly [kScope]: Scope;
}

/** What can be connected to: a live surface, or several. */
export type Served = AnyLiveSurface | LiveSurfaces;

function assertLive(segment: string, live: AnyLiveSurface): void {
  const doing = "Implementing surfaces";
  assertSegment(segment, doing);
  if (typeof live !== "object" || live === null || !(kChannel in live)) {
    throw new SurfaceError("INVALID_OPTION", `${doing}: "${segment}" must be what implementSurface() returns`);
  }
  live[kScope].assertOpen();
}

/**
 * Puts live surfaces together, for everything that serves one: all of them over one socket, one process, one port. Whoever
 * connects names the one surface that it wants, or a surface that was composed of some of them.
 *
 * One that is closed meanwhile was dropped: its members answer `DROPPED`, and the others go on.
 *
 * @param siblings - live surfaces by segment. Those that ask need not use the same segments: surfaces are found by their
 * names, and by segment only where several have one name.
 * @throws SurfaceError `INVALID_NAME` for a segment, `INVALID_OPTION` for what is not a live surface, `CLOSED` for one that
 * is closed.
 * @example
 * ```ts
 * const both = implementSurfaces({ pipeline: livePipeline, notes: liveNotes });
 * const listening = await listenUnixSocket(both, path);
 * ```
 */
export function implementSurfaces(siblings: Readonly<Record<string, AnyLiveSurface>>): LiveSurfaces {
  const bySegment = new Map(Object.entries(siblings));
  if (bySegment.size === 0)
    throw new SurfaceError("INVALID_OPTION", "Implementing surfaces: there must be at least one");
  for (const [segment, live] of bySegment) assertLive(segment, live);
  const scope = new Scope(`surfaces "${[...bySegment.keys()].join('", "')}"`);
  return Object.freeze({ close: () => scope.close(), [kSiblings]: bySegment, [kScope]: scope });
}

/**
 * Returns the scope of a live surface, or of several.
 *
 * @param doing - starts the message.
 * @throws SurfaceError `INVALID_OPTION` for any other value.
 */
export function scopeOf(served: Served, doing: string): Scope {
  // JavaScript, and casts, pass anything; an app from mcp() is the usual mistake.
  const value: unknown = served;
  if (typeof value !== "object" || value === null || !(kScope in value)) {
    const made = "a live surface, made by implementSurface() or implementSurfaces()";
    const found = typeof value === "object" && value !== null && "serve" in value ? "an app" : "something else";
    throw new SurfaceError("INVALID_OPTION", `Cannot ${doing}: the first argument must be ${made}, and is ${found}`);
  }
  return served[kScope];
}

/** The live surfaces that were put together; `undefined` for a single one. */
export function liveSiblingsOf(served: Served): Siblings<AnyLiveSurface> | undefined {
  return kSiblings in served ? served[kSiblings] : undefined;
}
