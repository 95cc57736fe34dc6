import type { Scope } from "../../spine/scope.ts";
import type { FaultReporter } from "../fault.ts";

/** What every owner of a member's implementation is given. */
export interface OwnerSetting {
  /** The member's key. */
  readonly key: string;
  /** The live surface's scope; owners register what they hold. */
  readonly scope: Scope;
  readonly report: FaultReporter;
  /** The object that the handlers were handed over in. */
  readonly handlers: object;
}
