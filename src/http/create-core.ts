import { createAnswerRenderer } from "../mcp/render-answer.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import type { Clock } from "../spine/clock.ts";
import { systemClock } from "../surface/system-clock.ts";
import { createAuthenticator } from "./auth/create-authenticator.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import { createAdmission } from "./create-admission.ts";
import { createFront } from "./front.ts";
import { Health } from "./health.ts";
import { KeepAlive } from "./keep-alive.ts";
import { createLegacyLeg } from "./legacy-leg.ts";
import type { Leg, SessionLeg } from "./leg.ts";
import type { HttpServe } from "./message.ts";
import { createModernLeg } from "./modern-leg.ts";
import type { ResolvedHandler } from "./resolve-options.ts";
import { LogBudget } from "./sessions/log-budget.ts";
import { Responder } from "./respond.ts";
import type { HttpSetting } from "./setting.ts";
import { type StageCounts, StageCounters } from "./stages.ts";
import { toLimiter } from "./to-limiter.ts";

/** What a server has to do, and what it has come to. */
export interface HttpStats {
  /** Sessions that are open. */
  readonly sessions: number;
  /** Subscriptions and streams that are open. */
  readonly streams: number;
  /** Messages that were not kept for their clients, since there were too many. */
  readonly dropped: number;
  /** How many requests have come to each stage. */
  readonly stages: StageCounts;
}

/** One app served over HTTP, apart from where its requests come from. Whoever made it closes it. */
export interface Core {
  readonly serve: HttpServe;
  /** Ends every stream with what its client waits for and takes nothing new. Resolves when nothing runs, or after the time. */
  drain(ms: number): Promise<void>;
  /** Aborts what runs and lets go of everything, but for the app. Callable twice. */
  close(): Promise<void>;
  stats(this: void): HttpStats;
}

function toAuthenticator(runtime: AppRuntime, options: ResolvedHandler, clock: Clock): Authenticator | undefined {
  const { scopes, report } = runtime;
  const { auth, path } = options;
  return auth === undefined ? undefined : createAuthenticator(auth, { scopes, path, clock, report });
}

function toSetting(
  runtime: AppRuntime,
  options: ResolvedHandler,
  authenticator: Authenticator | undefined,
): HttpSetting {
  const clock = systemClock;
  const { bounds } = options;
  const challenge = authenticator && ((scopes: readonly string[]) => authenticator.challenge(scopes));
  return {
    runtime,
    bounds,
    clock,
    counters: new StageCounters(),
    admission: createAdmission(bounds),
    keepAlive: new KeepAlive(clock, bounds.keepAliveMs),
    logBudget: new LogBudget(),
    limiter: toLimiter(options, clock),
    responder: new Responder({ render: createAnswerRenderer(runtime.info), challenge }),
  };
}

/** Settles with all of them, or after a time. */
async function within(clock: Clock, ms: number, all: Promise<unknown>): Promise<void> {
  let stop: () => void = () => {};
  const late = new Promise<void>((resolve) => (stop = clock.after(ms, resolve)));
  await Promise.race([all, late]);
  stop();
}

/**
 * Puts together what serves an open app over HTTP.
 *
 * @throws SurfaceError `INVALID_OPTION` for an `auth` that nobody could use.
 */
export function createCore(runtime: AppRuntime, options: ResolvedHandler): Core {
  const authenticator = toAuthenticator(runtime, options, systemClock);
  const setting = toSetting(runtime, options, authenticator);
  const { clock, counters, admission, keepAlive } = setting;
  const health = new Health(setting);
  const modern: Leg = createModernLeg(setting);
  const legacy: SessionLeg | undefined = options.sessions ? createLegacyLeg(setting) : undefined;
  const legs = legacy === undefined ? [modern] : [modern, legacy];
  const { hosts, origins, path } = options;
  return {
    serve: createFront({ setting, hosts, origins, path, authenticator, health: health.answer, modern, legacy }),
    drain: (ms) => {
      health.leave();
      return within(clock, ms, Promise.all(legs.map((leg) => leg.drain())));
    },
    close: async () => {
      health.close();
      await Promise.all(legs.map((leg) => leg.close()));
      keepAlive.close();
    },
    stats: () => ({ ...admission.counts, dropped: legacy?.dropped ?? 0, stages: counters.read() }),
  };
}
