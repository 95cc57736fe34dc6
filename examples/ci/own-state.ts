import { defineSurface, implementSurface, listenUnixSocket } from "surface-mcp";

import { ownerIn } from "./state-dir.ts";

/** A state directory that belongs to this process alone. */
export interface Owned {
  /** Lets the next one have it. Idempotent. */
  release(): Promise<void>;
}

/** There is nothing to use: that somebody listens says all. */
const owner = defineSurface("owner", {});

/**
 * Takes a state directory for this process, before anything in it is read or written. It is a socket of its own, and no
 * file: whoever is killed has let go of it, and the one that can be reached is there only once there is something to serve.
 *
 * @throws SurfaceError `SOCKET_IN_USE` where another process has it, and what else `listenUnixSocket` throws.
 */
export async function ownState(dir: string): Promise<Owned> {
  const live = implementSurface(owner, {});
  try {
    const listening = await listenUnixSocket(live, ownerIn(dir));
    return {
      async release() {
        await listening.close();
        await live.close();
      },
    };
  } catch (error) {
    await live.close();
    throw error;
  }
}
