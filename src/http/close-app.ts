import { SurfaceError } from "../errors.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import { internalError } from "../surface/fault.ts";
import { waitingClock } from "../surface/system-clock.ts";

/** Settles with a promise, or after a time. Says whether it was the promise. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let stop: () => void = () => {};
  const late = new Promise<boolean>((resolve) => (stop = waitingClock.after(ms, () => resolve(false))));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    stop();
  }
}

/** How long an app may take to close, in milliseconds: it waits for its own handlers, which may not listen. */
export const appClosingMs = 2000;

function report(left: readonly string[], runtime: AppRuntime): void {
  const still = left.length === 0 ? "the application" : left.join(", ");
  const cause = new SurfaceError("TIMEOUT", `Closing over HTTP: ${still} still runs, and was left alone`);
  internalError(cause, "closing over HTTP", runtime.report);
}

/**
 * Closes an app after its server. Reports once what is still running although it was aborted, and waits no longer for it.
 *
 * @param left - names of the author's functions that still run.
 */
export async function closeApp(runtime: AppRuntime, left: readonly string[]): Promise<void> {
  const isClosed = await within(appClosingMs, runtime.close());
  if (!isClosed || left.length > 0) report(left, runtime);
}
