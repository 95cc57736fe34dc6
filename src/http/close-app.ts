import { SurfaceError } from "../errors.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import { internalError } from "../surface/fault.ts";
import type { Core } from "./create-core.ts";
import { within } from "./within.ts";

/** How long an app may take to close, in milliseconds: it waits for its own handlers, which may not listen. */
export const appClosingMs = 2000;

function report(left: readonly string[], runtime: AppRuntime): void {
  const still = left.length === 0 ? "the application" : left.join(", ");
  const cause = new SurfaceError("TIMEOUT", `Closing over HTTP: ${still} still runs, and was left alone`);
  internalError(cause, "closing over HTTP", runtime.report);
}

/**
 * Closes an app behind what served it. What has not ended by then although it was told to is reported, once, and waited for by
 * nobody.
 */
export async function closeApp(runtime: AppRuntime, core: Pick<Core, "running">): Promise<void> {
  const left = core.running();
  const isClosed = await within(appClosingMs, runtime.close());
  if (!isClosed || left.length > 0) report(left, runtime);
}
