import type { AppRuntime, ServableApp } from "../mcp/servable-app.ts";

/** An app that is open, and for how many servers. */
interface Shared {
  readonly runtime: AppRuntime;
  users: number;
}

/** One server's hold on an app that is open. */
export interface RuntimeLease {
  readonly runtime: AppRuntime;
  /** Closes the app where nobody else holds it. Callable twice. Rejects as closing does. */
  release(): Promise<void>;
}

const open = new WeakMap<ServableApp, Shared>();

/**
 * Opens an app, or shares it where it is open for another server: over HTTP there is a server a session, and all sessions are
 * of one application.
 *
 * @throws SurfaceError with a boot code.
 */
export function leaseRuntime(app: ServableApp): RuntimeLease {
  const shared = open.get(app) ?? { runtime: app.open(), users: 0 };
  open.set(app, shared);
  shared.users += 1;
  let isHeld = true;
  return {
    runtime: shared.runtime,
    async release() {
      if (!isHeld) return;
      isHeld = false;
      shared.users -= 1;
      if (shared.users > 0) return;
      // From here on it is opened anew.
      open.delete(app);
      await shared.runtime.close();
    },
  };
}
