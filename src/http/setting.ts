import type { RateLimiter } from "../call/rate-limiter.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import type { Clock } from "../spine/clock.ts";
import type { Admission } from "./admission.ts";
import type { HttpBudgets } from "./budgets.ts";
import type { KeepAlive } from "./sse.ts";
import type { Responder } from "./respond.ts";
import type { StageCounters } from "./stages.ts";

/** The bounds in force: those of the options, or their defaults. */
export interface HttpBounds {
  readonly maxSessions: number;
  readonly maxSessionsPerPrincipal: number;
  readonly sessionIdleMs: number;
  readonly maxQueued: number;
  readonly maxInFlight: number;
  readonly maxStreamsPerPrincipal: number;
  readonly maxStreams: number;
  readonly keepAliveMs: number;
  readonly stallMs: number;
}

/** What everything that serves one app over HTTP shares. */
export interface HttpSetting {
  readonly runtime: AppRuntime;
  readonly bounds: HttpBounds;
  readonly clock: Clock;
  readonly counters: StageCounters;
  readonly budgets: HttpBudgets;
  readonly admission: Admission;
  readonly keepAlive: KeepAlive;
  /** How often callers may call tools; `undefined`: as often as they like. */
  readonly limiter: RateLimiter | undefined;
  readonly responder: Responder;
}
