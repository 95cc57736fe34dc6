import { SurfaceError } from "../errors.ts";
import { Scope } from "../spine/scope.ts";
import type { SurfaceClient } from "./client.ts";
import { isSurface, memberOf, type Surface } from "./define-surface.ts";
import { implementSurface, type ImplementOptions, type LiveSurface, kChannel } from "./implement-surface.ts";
import type { Implementation } from "./implementation.ts";
import type { Spec } from "./member.ts";
import { type SurfaceChannel, createScopedChannel } from "./channel.ts";
import { createClient } from "./create-client.ts";
import { kProjection, type Projection } from "./projection.ts";

// The compiler takes handlers that are not members where they come in a variable: an instance of a class may have more fields
// and methods than handlers, and its type is that of an object with the same properties. implementSurface() tells them apart.
/**
 * Makes a surface out of what another one offers: `surface` says what there is to be, and `handlers` how each member of
 * it comes from a client of `source`, by `derive` or by hand. What `surface` does not name cannot be reached through it.
 * Nothing runs yet: `projected()` makes a link of it, `implementProjection()` a live surface.
 *
 * @throws SurfaceError `INVALID_OPTION` when one of the three is not what it should be.
 * @example
 * ```ts
 * const agentCounter = projectSurface(
 *   counter,
 *   defineSurface("agent", { even: mcpResource(cell({ schema: z.boolean() })) }),
 *   (client) => ({ even: derive.cell(client.value, (value) => value % 2 === 0) }),
 * );
 * ```
 */
export function projectSurface<$Source extends Spec, $Spec extends Spec>(
  source: Surface<$Source>,
  surface: Surface<$Spec>,
  handlers: (client: SurfaceClient<$Source>) => NoInfer<Implementation<$Spec>>,
): Projection<$Source, $Spec> {
  if (!isSurface(source) || !isSurface(surface) || typeof handlers !== "function") {
    throw new SurfaceError(
      "INVALID_OPTION",
      "Projecting a surface: it takes two surfaces and a function from a client of the first to handlers of the second",
    );
  }
  return Object.freeze({ ...surface, [kProjection]: Object.freeze({ source, handlers }) });
}

/** A client of a surface of this name and of members of these kinds; their schemas are the link's to compare. */
function assertClientOf(projection: Surface<Spec>, source: Surface<Spec>, given: Surface<Spec>): void {
  const projecting = `Implementing "${projection.name}", a projection of surface "${source.name}"`;
  if (given.name !== source.name) {
    throw new SurfaceError("CONTRACT_MISMATCH", `${projecting}: it was given a client of surface "${given.name}"`);
  }
  for (const [key, { kind }] of Object.entries(source.members)) {
    if (memberOf(given, key)?.kind === kind) continue;
    throw new SurfaceError("CONTRACT_MISMATCH", `${projecting}: its client has no ${kind} "${key}"`);
  }
}

/**
 * Gives a projection its life, over a client of the surface that it comes from. All or nothing: when it throws, nothing
 * has been run and `ref` is still its maker's. From then on the live surface owns `ref`, and closes it after itself; what
 * `ref` is a client of stays open. Whoever called this closes the live surface.
 *
 * When what it comes from goes away the projection stays: its cells and collections stand as they were, marked stale,
 * and go on when it is back; calls answer `UNAVAILABLE`.
 *
 * @throws SurfaceError `CONTRACT_MISMATCH` for a client of another surface; `MISSING_HANDLER` or `UNKNOWN_HANDLER` as
 * `implementSurface()`; and what the author's function throws.
 */
export function implementProjection<TSource extends Spec, TSpec extends Spec>(
  projection: Projection<TSource, TSpec>,
  ref: ClientRef<TSource>,
  options: ImplementOptions = {},
): LiveSurface<TSpec> {
  const { source, handlers } = projection[kProjection];
  assertClientOf(projection, source, ref.surface);
  const live = implementSurface<TSpec>(projection, handlers(ref.client), options);
  const scope = new Scope(`projection "${projection.name}"`);
  let ending: Promise<void> | undefined;
  scope.add(() => ending);
  // Begun before the live surface has ended: an upstream that hangs would keep that waiting.
  scope.add(() => ref.close());
  scope.add(() => {
    ending = live.close();
    // It is waited for last, and its faults are told then.
    ending.catch(() => {});
  });
  return Object.freeze({ ...live, close: () => scope.close() });
}

/** A client that somebody owns: what a projection is implemented over. */
export interface ClientRef<TSpec> {
  readonly surface: Surface<TSpec>;
  readonly client: SurfaceClient<TSpec>;
  /** The same members, untyped: what `client` is built on. */
  readonly channel: SurfaceChannel;
  /** Ends every watch through it and refuses further uses; the live surface stays open. Callable twice. */
  close(): Promise<void>;
}

/**
 * A client of a live surface in this process. Whoever made it closes it, unless it was handed to
 * `implementProjection()`.
 *
 * @throws SurfaceError, from its uses: `CLOSED` once it, or the live surface, is closed.
 * @example
 * ```ts
 * const agents = implementProjection(agentCounter, surfaceClientRef(live));
 * ```
 */
export function surfaceClientRef<TSpec extends Spec>(live: LiveSurface<TSpec>): ClientRef<TSpec> {
  const { surface } = live;
  const scope = new Scope(`a client of surface "${surface.name}"`);
  const channel = createScopedChannel(live[kChannel], scope);
  return Object.freeze({ surface, client: createClient(surface, channel), channel, close: () => scope.close() });
}
