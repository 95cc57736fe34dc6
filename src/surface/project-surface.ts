import { SurfaceError } from "../errors.ts";
import { Scope } from "../spine/scope.ts";
import { createScopedChannel, type SurfaceChannel } from "./channel.ts";
import type { SurfaceClient } from "./client.ts";
import { createClient } from "./create-client.ts";
import { isSurface, memberOf, type Surface } from "./define-surface.ts";
import { type ImplementOptions, implementSurface, kChannel, type LiveSurface } from "./implement-surface.ts";
import type { Implementation } from "./implementation.ts";
import type { Spec } from "./member.ts";

/** A client with an owner, over which a projection is implemented. */
export interface ClientRef<TSpec> {
  readonly surface: Surface<TSpec>;
  readonly client: SurfaceClient<TSpec>;
  readonly channel: SurfaceChannel;
  /** Ends every watch of the client and refuses new operations; the live surface stays open. Callable twice. */
  close(): Promise<void>;
}

/**
 * Creates a client of a live surface in this process. Its creator closes it, unless it was passed to `implementProjection()`.
 *
 * @throws SurfaceError, from its operations: `CLOSED` after it or the live surface has closed.
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

// The compiler accepts handlers that are not members if they come in a variable: an instance of a class may have more fields and
// methods than handlers, and its type is the same as that of an object. implementSurface() tells the two apart.
/**
 * Defines a projection: a surface whose handlers use a client of another surface. A caller reaches only the members of `surface`.
 * Nothing runs yet: `projected()` creates a link to it, `implementProjection()` a live surface.
 *
 * @param handlers - returns the handler of each member, from a client of `source`, by `derive` or by hand.
 * @throws SurfaceError `INVALID_OPTION` for a wrong argument.
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
    const problem = "pass two surfaces and a function from a client of the first to handlers of the second";
    throw new SurfaceError("INVALID_OPTION", `Cannot project a surface: ${problem}`);
  }
  return Object.freeze({ ...surface, [kProjection]: Object.freeze({ source, handlers }) });
}

/** Refuses a client of a surface with another name, or with members of other kinds. The link compares their schemas. */
function assertClientOf(projection: Surface<Spec>, source: Surface<Spec>, given: Surface<Spec>): void {
  const doing = `Cannot implement "${projection.name}", a projection of surface "${source.name}"`;
  if (given.name !== source.name) {
    throw new SurfaceError("CONTRACT_MISMATCH", `${doing}: the client is of surface "${given.name}"`);
  }
  for (const [key, { kind }] of Object.entries(source.members)) {
    if (memberOf(given, key)?.kind === kind) continue;
    throw new SurfaceError("CONTRACT_MISMATCH", `${doing}: the client has no ${kind} "${key}"`);
  }
}

/**
 * Implements a projection over a client of its source. The caller closes the live surface, which then closes `ref`. If this function
 * throws, nothing has run, and the caller still owns `ref`. While the source is lost, cells and collections keep their values, marked
 * stale, and calls answer `UNAVAILABLE`.
 *
 * @throws SurfaceError `CONTRACT_MISMATCH` for a client of another surface; `MISSING_HANDLER` or `UNKNOWN_HANDLER`; any error of the
 * author's function.
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
  // Disposers run in reverse. The client closes before the live surface has ended, which would wait for a source that hangs.
  let ending: Promise<void> | undefined;
  scope.add(() => ending);
  scope.add(() => ref.close());
  scope.add(() => {
    ending = live.close();
    // The first disposer reports its faults.
    ending.catch(() => {});
  });
  return Object.freeze({ ...live, close: () => scope.close() });
}

/** The property of a {@link Projection} with its source and handlers. In this file, so that other apps bundle no more of projections. */
export const kProjection: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.projection");

/** The surface that a projection is a client of, and the function that creates its handlers from that client. */
export interface ProjectionOf<TSource, TSpec> {
  readonly source: Surface<TSource>;
  readonly handlers: (client: SurfaceClient<TSource>) => Implementation<TSpec>;
}

/** A surface whose implementation is a client of another surface. It is a surface like any other, with tags. */
export interface Projection<TSource, TSpec> extends Surface<TSpec> {
  readonly [kProjection]: ProjectionOf<TSource, TSpec>;
}

/** Returns the surface that a projection is a client of; `undefined` for any other surface. */
export function sourceOf(surface: object): Surface<Spec> | undefined {
  if (!Object.hasOwn(surface, kProjection)) return undefined;
  // Only projectSurface() sets it.
  return (Reflect.get(surface, kProjection) as ProjectionOf<Spec, Spec>).source;
}
