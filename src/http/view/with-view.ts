import { sameCaller } from "../../surface/caller-key.ts";
import type { Caller, CallerView } from "../../surface/caller.ts";

/** A caller as they come by a view: by this one, whatever was said of another. */
export function withView(caller: Caller, view: CallerView | undefined): Caller {
  if (view !== undefined) return sameCaller(Object.freeze({ ...caller, view }), caller);
  const { view: before, ...rest } = caller;
  return before === undefined ? caller : sameCaller(Object.freeze(rest), caller);
}
