import type { Caller } from "../catalog/caller.ts";

/** Of whom `app.replay()` is asked. */
export interface ReplayOptions {
  /** The view that they come by. Default: the caller's own, else `default`. */
  readonly surface?: string;
  readonly project?: string;
  /** Who they are. Default: somebody of whom nothing is known. */
  readonly caller?: Caller;
}
