import { SurfaceError } from "../errors.ts";
import { Scope } from "../spine/scope.ts";
import { kScope } from "../surface/implement-surface.ts";
import type { Served } from "../surface/implement-surfaces.ts";
import type { Listening } from "./listening.ts";
import { codeOf } from "./system-error.ts";

/** What {@link startListening} starts. */
export interface ListeningSetting<TMore> {
  readonly live: Served;
  /** Where, for errors. */
  readonly where: string;
  /** Opens it; what is opened is closed by `scope`, also when it fails half way. */
  readonly open: (scope: Scope) => Promise<TMore>;
}

/**
 * Serves a live surface to others; all or nothing. Ends with the live surface, and does not end it.
 *
 * @throws SurfaceError `CLOSED` for a live surface that is closed, `UNAVAILABLE` for what the system refuses, and what
 * `open` throws.
 */
export async function startListening<TMore>(setting: ListeningSetting<TMore>): Promise<TMore & Listening> {
  const { live, where, open } = setting;
  const life = live[kScope];
  life.assertOpen();
  const scope = new Scope(`the listener on "${where}"`);
  const closed = new Promise<void>((tell) => scope.add(tell));
  try {
    const more = await open(scope);
    life.assertOpen();
    scope.add(life.add(() => scope.close()));
    return Object.freeze({ ...more, closed, close: () => scope.close() });
  } catch (cause) {
    // Why it could not start is what its author has to hear, not what closing half of it came to.
    await scope.close().catch(() => {});
    if (cause instanceof SurfaceError) throw cause;
    throw new SurfaceError("UNAVAILABLE", `Listening on "${where}": the system refused it with "${codeOf(cause)}"`, {
      cause,
    });
  }
}
