import type { Scope } from "../../spine/scope.ts";
import type { FaultReporter } from "../fault.ts";

/** Dependencies of the owner of a member. */
export interface OwnerDeps {
  readonly key: string;
  /** Scope of the live surface. Owners register their disposers with it. */
  readonly scope: Scope;
  readonly report: FaultReporter;
  /** The object with the handlers, which is their `this`. */
  readonly handlers: object;
}
