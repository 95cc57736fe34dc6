import { defaultView, type Caller, type CallerView } from "../../surface/caller.ts";
import { withView } from "./with-view.ts";

/** A caller with what their program calls itself, where it says so. */
export function withClient(caller: Caller, client: CallerView["client"]): Caller {
  if (client === undefined) return caller;
  return withView(caller, Object.freeze({ surface: defaultView, ...caller.view, client: Object.freeze(client) }));
}
