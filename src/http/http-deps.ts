import type { RateLimiter } from "../call/limit-call.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import type { Clock } from "../spine/clock.ts";
import type { Admission, StageCounters } from "./admission.ts";
import type { HttpBudgets } from "./budgets.ts";
import type { HttpBounds } from "./options.ts";
import type { Responder } from "./respond.ts";
import type { KeepAlive } from "./sse.ts";

/** Dependencies of everything that serves one app over HTTP. */
export interface HttpDeps {
  readonly runtime: AppRuntime;
  readonly bounds: HttpBounds;
  readonly clock: Clock;
  /** The state that all replicas share. @default this process serves alone */
  readonly cluster?: Cluster | undefined;
  readonly counters: StageCounters;
  readonly budgets: HttpBudgets;
  readonly admission: Admission;
  readonly keepAlive: KeepAlive;
  /** Limiter of the calls of a caller. @default no limit */
  readonly limiter: RateLimiter | undefined;
  readonly responder: Responder;
}
