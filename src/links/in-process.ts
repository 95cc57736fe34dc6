import { SurfaceError } from "../errors.ts";
import { Scope } from "../spine/scope.ts";
import { createScopedChannel } from "../surface/channel.ts";
import { createClient } from "../surface/create-client.ts";
import type { Surface } from "../surface/define-surface.ts";
import { liveSiblingsOf, scopeOf, type Served } from "../surface/implement-surface.ts";
import type { Spec } from "../surface/member.ts";
import { sourceOf } from "../surface/project-surface.ts";
import { ConnectionEnd, type Connection, type ConnectionState, type Link } from "./link.ts";
import { assertContract, reachSurface, addressOf, type ReachedSurface } from "./reach-surface.ts";

/** Ends a connection with the live surfaces that it reaches: refuses new operations, and waits for running ones. */
function endWith(lives: readonly Scope[], scope: Scope): ConnectionEnd {
  const ending = new ConnectionEnd();
  scope.add(() => {
    if (ending.state().kind === "open") ending.end({ kind: "closed" });
  });
  const goodbye = async (live: Scope): Promise<void> => {
    ending.leave();
    const tell = (): void => ending.end({ kind: "gone" });
    try {
      await scope.close();
    } finally {
      // Not awaited: the live surface waits for this. Its maker hears of a failure.
      live.close().then(tell, tell);
    }
  };
  for (const live of lives) scope.add(live.add(() => goodbye(live)));
  return ending;
}

/** Adds advice if a surface is not here, and the source of the projection is. */
function withAdvice(cause: SurfaceError, surface: Surface<Spec>, served: Served): SurfaceError {
  const source = sourceOf(surface);
  // A surface of another name than its source is missing only with `UNKNOWN_MEMBER`.
  if (source === undefined || (cause.code !== "UNKNOWN_MEMBER" && source.name !== surface.name)) return cause;
  try {
    reachSurface(served, addressOf(source));
  } catch {
    return cause;
  }
  const what = `it is a projection of surface "${source.name}", which is here`;
  return new SurfaceError(cause.code, `${cause.message}; ${what}; bridge projected(${surface.name}, link)`);
}

function reach(surface: Surface<Spec>, served: Served): ReachedSurface {
  try {
    const reached = reachSurface(served, addressOf(surface));
    assertContract(surface, reached);
    return reached;
  } catch (cause) {
    throw cause instanceof SurfaceError ? withAdvice(cause, surface, served) : cause;
  }
}

// Keyed by the link itself: an author may wrap it in a link that connects in another way.
const lives = new WeakMap<Link, Served>();

/** Returns a function that finds the live surface of a link, or throws as {@link Link.check}; `undefined` for links to other processes. */
export function localSurfaceFinder(link: Link): ((surface: Surface<Spec>) => ReachedSurface) | undefined {
  const live = lives.get(link);
  return live === undefined || liveSiblingsOf(live) !== undefined ? undefined : (surface) => reach(surface, live);
}

/**
 * Creates a link to one or several live surfaces of the same process. Values are passed on as they are. Closing a connection does not close
 * the live surface; when that closes, its connections end as `gone`.
 *
 * @throws SurfaceError, from `connect()`: `UNKNOWN_MEMBER` for a surface of another name, `CONTRACT_MISMATCH` for one with other members,
 * kinds or schemas, `CLOSED` for a closed live surface, `DROPPED` if it was one of several.
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
      const scopes = [...new Set([life, reached.scope])];
      for (const each of scopes) each.assertOpen();
      const scope = new Scope(`the connection to surface "${surface.name}"`);
      const channel = createScopedChannel(reached.channel, scope);
      const client = createClient(surface, channel);
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
