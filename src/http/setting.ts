import type { Admission, StageCounters } from "./admission.ts";
import type { RateLimiter } from "../call/limit-call.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import type { Clock } from "../spine/clock.ts";
import type { HttpHandlerOptions } from "./http-options.ts";
import type { HttpBudgets } from "./budgets.ts";
import type { KeepAlive } from "./sse.ts";
import type { Responder } from "./respond.ts";

/** The bounds in force: options or their defaults. */
export type HttpBounds = Required<
  Pick<
    HttpHandlerOptions,
    | ("maxSessions" | "maxSessionsPerPrincipal" | "sessionIdleMs" | "maxQueued" | "maxInFlight")
    | ("maxStreamsPerPrincipal" | "maxStreams" | "keepAliveMs" | "stallMs")
  >
>;

/** Dependencies of everything that serves one app over HTTP. */
export interface HttpSetting {
  readonly runtime: AppRuntime;
  readonly bounds: HttpBounds;
  readonly clock: Clock;
  readonly counters: StageCounters;
  readonly budgets: HttpBudgets;
  readonly admission: Admission;
  readonly keepAlive: KeepAlive;
  /** Limit of the calls of a caller; `undefined`: none. */
  readonly limiter: RateLimiter | undefined;
  readonly responder: Responder;
}
