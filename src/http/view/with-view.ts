import { withCallerView } from "../../surface/caller-key.ts";
import type { Caller, CallerView } from "../../surface/caller.ts";

/** A caller and the copy of it that has a view. */
interface Copied {
  readonly caller: Caller;
  readonly copy: Caller;
}

/** The last anonymous caller of each view. Clients without a token send the same view with each request. */
const copies = new WeakMap<CallerView, Copied>();

function copyAnonymous(caller: Caller, view: CallerView): Caller {
  const last = copies.get(view);
  if (last?.caller === caller) return last.copy;
  const copy = withCallerView(caller, view);
  copies.set(view, { caller, copy });
  return copy;
}

/** Returns the caller with this view, or with none. */
export function withView(caller: Caller, view: CallerView | undefined): Caller {
  if (view !== undefined) return caller.isAnonymous ? copyAnonymous(caller, view) : withCallerView(caller, view);
  const { view: before, ...rest } = caller;
  return before === undefined ? caller : Object.freeze(rest);
}
