import { Refusal } from "../errors.ts";
import { compareExposures } from "../lock/compare-exposures.ts";
import { lockfileName } from "../lock/lockfile.ts";
import { readExposure } from "../lock/read-exposure.ts";
import { readLocked } from "../lock/read-lockfile.ts";
import { renderCheck } from "../lock/render-check.ts";
import type { ServableApp } from "../mcp/servable-app.ts";

/**
 * Throws unless an app exposes what its lockfile says, as `surface-mcp check` does. Executes no handler and opens no connection.
 *
 * @param lockfile - the file that `surface-mcp lock` wrote: a path, a `file:` URL, or the parsed JSON.
 * @throws Refusal `EXPOSURE_DIFFERS` with the differences, `LOCKFILE` for a file that cannot be read, `UNREADABLE`; SurfaceError `INVALID_OPTION`.
 */
export function assertExposure(app: ServableApp, lockfile: string | URL | object): void {
  const differences = compareExposures(readLocked(lockfile, "Cannot call assertExposure()"), readExposure(app));
  if (differences.length === 0) return;
  throw new Refusal("EXPOSURE_DIFFERS", renderCheck({ base: lockfileName, differences }, "text"));
}
