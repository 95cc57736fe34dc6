import type { Caller, CallerView } from "../../surface/caller.ts";

/** A caller as they come by a view: by this one, whatever was said of another. */
export function withView(caller: Caller, view: CallerView | undefined): Caller {
  if (view !== undefined) return Object.freeze({ ...caller, view });
  const { view: before, ...rest } = caller;
  return before === undefined ? caller : Object.freeze(rest);
}
