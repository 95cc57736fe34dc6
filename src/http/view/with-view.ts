import { withCallerView } from "../../surface/caller-key.ts";
import type { Caller, CallerView } from "../../surface/caller.ts";

/** Returns the caller with this view, or with none. */
export function withView(caller: Caller, view: CallerView | undefined): Caller {
  if (view !== undefined) return withCallerView(caller, view);
  const { view: before, ...rest } = caller;
  return before === undefined ? caller : Object.freeze(rest);
}
