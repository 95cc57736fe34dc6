import type { RateLimiter } from "../call/rate-limiter.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import type { Clock } from "../spine/clock.ts";
import type { Admission } from "./admission.ts";
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

/**
 * Where a request is looked at, in order: cheapest and most global first. What is refused at one never comes to the next.
 * `caps` are the transport's: places, sessions and streams. `gate` is where what a request names is looked up, where its
 * caller is asked for scopes, and before its handler runs for what a limiter leaves of calls of this tool.
 */
export const stages = ["head", "token", "body", "envelope", "caps", "gate", "arguments", "backend"] as const;

/** One of {@link stages}. */
export type Stage = (typeof stages)[number];

/** How many requests have come to each stage. */
export type StageCounts = Readonly<Record<Stage, number>>;

/** Counts. One for each server. */
export class StageCounters {
  readonly #counts: Record<Stage, number> = {
    head: 0,
    token: 0,
    body: 0,
    envelope: 0,
    caps: 0,
    gate: 0,
    arguments: 0,
    backend: 0,
  };

  /** A request has come to a stage. */
  readonly reached = (stage: Stage): void => {
    this.#counts[stage] += 1;
  };

  /** What was counted so far. */
  read(): StageCounts {
    return { ...this.#counts };
  }
}
