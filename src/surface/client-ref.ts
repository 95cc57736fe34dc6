import { Scope } from "../spine/scope.ts";
import type { SurfaceChannel } from "./channel.ts";
import type { SurfaceClient } from "./client.ts";
import { createClient } from "./create-client.ts";
import type { Surface } from "./define-surface.ts";
import { kChannel, type LiveSurface } from "./implement-surface.ts";
import type { Spec } from "./member.ts";
import { createScopedChannel } from "./scoped-channel.ts";

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
