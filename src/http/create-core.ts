import type { ClientRequest } from "../mcp/running-request.ts";
import { ownParam } from "../mcp/protocol.ts";
import { createAnswerRenderer } from "../mcp/render-answer.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import { clipText } from "../schema/clip-text.ts";
import { systemClock } from "../surface/system-clock.ts";
import { Admission } from "./admission.ts";
import { createAuthenticator, type Authenticator } from "./auth/create-authenticator.ts";
import { createBudgets, type HttpBudgets, type LimitUse, readUse } from "./budgets.ts";
import { createAddressReader } from "./client-address.ts";
import { createFront } from "./front.ts";
import { LocalClients } from "./head/check-head.ts";
import { Health } from "./health.ts";
import { KeepAlive } from "./sse.ts";
import { LegacyLeg } from "./legacy-leg.ts";
import type { SessionLeg } from "./leg.ts";
import type { HttpServe } from "./message.ts";
import { ModernLeg } from "./modern-leg.ts";
import type { ResolvedHandler } from "./resolve-options.ts";
import { Responder } from "./respond.ts";
import type { HttpSetting } from "./setting.ts";
import { type StageCounts, StageCounters } from "./stages.ts";
import { toLimiter } from "./to-limiter.ts";
import { within } from "./close-app.ts";

/** What a server has to do, and what it has come to. */
export interface HttpStats {
  /** Sessions that are open. */
  readonly sessions: number;
  /** Subscriptions, and streams that were asked for by GET, that are open: what `maxStreams` bounds. */
  readonly streams: number;
  /** Messages that were not kept for their clients, since there were too many. */
  readonly dropped: number;
  /** How many requests have come to each stage. */
  readonly stages: StageCounts;
  /** Everything that callers can make the server hold: how much of it there is, and what was refused or cut off. */
  readonly limits: LimitUse;
}

/** Resolves once all that was answered has left this process, as far as can be known. */
export type Sent = () => Promise<void>;

const maxNameBytes = 200;

/** How long what was aborted may take to end, in milliseconds. */
export const abortingMs = 1000;

/** One app served over HTTP, apart from where its requests come from. Whoever made it closes it. */
export interface Core {
  readonly serve: HttpServe;
  readonly budgets: HttpBudgets;
  /**
   * Ends every stream with what its client waits for and takes nothing new. Resolves when nothing runs and what was answered
   * has left, or after the time.
   */
  drain(ms: number, sent: Sent): Promise<void>;
  /**
   * Aborts what runs and lets go of everything, but for the app. Resolves when nothing runs and what was answered has left,
   * or after a second. Callable twice.
   */
  close(sent: Sent): Promise<void>;
  /** What of an author's runs, by its name, also where its caller was answered. */
  running(): readonly string[];
  stats(this: void): HttpStats;
}

function toAuthenticator(
  runtime: AppRuntime,
  options: ResolvedHandler,
  budgets: HttpBudgets,
): Authenticator | undefined {
  const clock = systemClock;
  const { scopes, report } = runtime;
  const { auth, path } = options;
  return auth === undefined ? undefined : createAuthenticator(auth, { scopes, path, clock, report, budgets });
}

interface SettingParts {
  readonly options: ResolvedHandler;
  readonly authenticator: Authenticator | undefined;
  readonly budgets: HttpBudgets;
}

function toSetting(runtime: AppRuntime, { options, authenticator, budgets }: SettingParts): HttpSetting {
  const clock = systemClock;
  const { bounds } = options;
  const challenge = authenticator && ((scopes: readonly string[]) => authenticator.challenge(scopes));
  return {
    runtime,
    bounds,
    clock,
    counters: new StageCounters(),
    budgets,
    admission: new Admission(bounds),
    keepAlive: new KeepAlive(clock, bounds.keepAliveMs),
    limiter: toLimiter(options, clock),
    responder: new Responder({ render: createAnswerRenderer(runtime.info), challenge }),
  };
}

/** Handlers of an author, by the method that runs them. */
const handlerNames: ReadonlyMap<string, string> = new Map([
  ["tools/call", "tool"],
  ["resources/read", "resource"],
  ["prompts/get", "prompt"],
]);

/** Names a handler for the log. */
function toName({ frame: { method, params } }: ClientRequest): string {
  const what = handlerNames.get(method) ?? method;
  const name = ownParam(params, "name") ?? ownParam(params, "uri");
  return typeof name === "string" ? `${what} "${clipText(name, maxNameBytes)}"` : what;
}

/**
 * Puts together what serves an open app over HTTP.
 *
 * @throws SurfaceError `INVALID_OPTION` for an `auth` that nobody could use.
 */
export function createCore(app: AppRuntime, options: ResolvedHandler): Core {
  const budgets = createBudgets(options.limits, app.report);
  app.countParts(budgets.partBytes);
  const authenticator = toAuthenticator(app, options, budgets);
  const setting = toSetting(app, { options, authenticator, budgets });
  const { counters, admission, keepAlive } = setting;
  const health = new Health(setting);
  const modern = new ModernLeg(setting);
  const legacy: SessionLeg | undefined = options.sessions ? new LegacyLeg(setting) : undefined;
  const legs = legacy === undefined ? [modern] : [modern, legacy];
  const { hosts, origins, path, isLocalOnly } = options;
  const addressOf = createAddressReader(options.clientAddress, app.report);
  return {
    budgets,
    serve: createFront({
      setting,
      hosts,
      origins,
      localClients: isLocalOnly ? new LocalClients() : undefined,
      path,
      addressOf,
      authenticator,
      health: health.answer,
      modern,
      legacy,
    }),
    drain: async (ms, sent) => {
      health.leave();
      await within(ms, Promise.all(legs.map((leg) => leg.drain())).then(sent));
    },
    close: async (sent) => {
      health.close();
      const closed = Promise.all(legs.map((leg) => leg.close())).then(sent);
      await within(abortingMs, Promise.all([closed, ...legs.map((leg) => leg.idle())]));
      keepAlive.close();
    },
    running: () => [...new Set(legs.flatMap(({ running }) => running.map(toName)))],
    stats: () => ({
      ...admission.counts,
      dropped: modern.dropped + (legacy?.dropped ?? 0),
      stages: counters.read(),
      limits: readUse(budgets, app.schemaBytes),
    }),
  };
}
