import { SurfaceError } from "../errors.ts";
import { Scope } from "../spine/scope.ts";
import { createScopedChannel } from "../surface/channel.ts";
import { createClient } from "../surface/create-client.ts";
import type { Surface } from "../surface/define-surface.ts";
import { liveSiblingsOf, scopeOf, type Served } from "../surface/implement-surface.ts";
import type { Spec } from "../surface/member.ts";
import { sourceOf } from "../surface/projection.ts";
import { Ending, type Connection, type ConnectionState, type Link } from "./link.ts";
import { assertContract, reachSurface, toAsked, type ReachedSurface } from "./reach-surface.ts";

/** Ends a connection with what it reaches: uses are refused from then on, and those under way are waited for. */
function endWith(lives: readonly Scope[], scope: Scope): Ending {
  const ending = new Ending();
  scope.add(() => {
    if (ending.state().kind === "open") ending.end({ kind: "closed" });
  });
  const goodbye = async (live: Scope): Promise<void> => {
    ending.leave();
    const tell = (): void => ending.end({ kind: "gone" });
    try {
      await scope.close();
    } finally {
      // Not waited for: the live surface waits for this. How it fares is its maker's to hear.
      live.close().then(tell, tell);
    }
  };
  for (const live of lives) scope.add(live.add(() => goodbye(live)));
  return ending;
}

function find(surface: Surface<Spec>, served: Served): ReachedSurface {
  const reached = reachSurface(served, toAsked(surface));
  assertContract(surface, reached);
  return reached;
}

/** Says what to do where a surface is not here, but what it is a projection of is. */
function toAdvised(cause: SurfaceError, surface: Surface<Spec>, served: Served): SurfaceError {
  const source = sourceOf(surface);
  // Of another name it is taken for its source only where it was not found.
  if (source === undefined || (cause.code !== "UNKNOWN_MEMBER" && source.name !== surface.name)) return cause;
  try {
    reachSurface(served, toAsked(source));
  } catch {
    return cause;
  }
  const what = `it is a projection of surface "${source.name}", which is here`;
  return new SurfaceError(cause.code, `${cause.message}; ${what}: bridge projected(${surface.name}, link)`);
}

/** What a surface reaches here. @throws SurfaceError, as `connect()` does. */
function reach(surface: Surface<Spec>, served: Served): ReachedSurface {
  try {
    return find(surface, served);
  } catch (cause) {
    throw cause instanceof SurfaceError ? toAdvised(cause, surface, served) : cause;
  }
}

// By the link itself: one that an author makes of it may connect in another way.
const lives = new WeakMap<Link, Served>();

/**
 * Returns what finds the live surface that a link reaches without a connection, and throws as {@link Link.check} does. Nothing for links
 * that leave this process, or that reach several live surfaces, which end together.
 */
export function directReachOf(link: Link): ((surface: Surface<Spec>) => ReachedSurface) | undefined {
  const live = lives.get(link);
  return live === undefined || liveSiblingsOf(live) !== undefined ? undefined : (surface) => reach(surface, live);
}

/**
 * A link to a live surface in the same process, or to several. Values are handed over as they are, without a wire; closing
 * a connection does not close the live surface, which stays its maker's. When the live surface closes, its connections end
 * as `gone`.
 *
 * @throws SurfaceError, from `connect()`: `UNKNOWN_MEMBER` for a surface of another name, `CONTRACT_MISMATCH` for one of
 * the same name with a member that is missing here, of another kind or of other schemas, `CLOSED` for one that is closed,
 * `DROPPED` where it is one of several.
 * @example
 * ```ts
 * const connection = await inProcess(live).connect(counter);
 * ```
 */
export function inProcess(live: Served): Link {
  const life = scopeOf(live, "link in process");
  const link: Link = Object.freeze({
    check: (surface: Surface<Spec>) => void reach(surface, live),
    async connect<TAsked extends Spec>(surface: Surface<TAsked>): Promise<Connection<TAsked>> {
      const reached = reach(surface, live);
      for (const each of [life, reached.scope]) each.assertOpen();
      const scope = new Scope(`the connection to surface "${surface.name}"`);
      const channel = createScopedChannel(reached.channel, scope);
      const client = createClient(surface, channel);
      const scopes = life === reached.scope ? [life] : [life, reached.scope];
      const ending = endWith(scopes, scope);
      const { leaving, closed } = ending;
      const state = (): ConnectionState => {
        // A scope aborts what runs before it disposes of this connection.
        if (scope.closed || scopes.some((each) => each.closed)) ending.leave();
        return ending.state();
      };
      return Object.freeze({ client, channel, state, leaving, closed, close: () => scope.close() });
    },
  });
  lives.set(link, live);
  return link;
}
