import type { ClientRequest } from "../mcp/dispatcher.ts";
import { ownParam, createAnswerRenderer } from "../mcp/protocol.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import { clipText } from "../schema/visible-text.ts";
import { systemClock, waitingClock } from "../surface/system-clock.ts";
import { Admission, type StageCounts, StageCounters } from "./admission.ts";
import { createAuthenticator, type Authenticator } from "./auth/create-authenticator.ts";
import { createBudgets, type HttpBudgets, type LimitUse, readUse } from "./budgets.ts";
import { createAddressReader } from "./addresses.ts";
import { Front } from "./front.ts";
import { LocalClients } from "./check-head.ts";
import { Health } from "./health.ts";
import { KeepAlive } from "./sse.ts";
import { LegacyLeg } from "./legacy-leg.ts";
import type { HttpServe } from "./message.ts";
import { ModernLeg } from "./modern-leg.ts";
import type { ResolvedHandler } from "./resolve-options.ts";
import { Responder } from "./respond.ts";
import type { HttpSetting } from "./setting.ts";
import { toLimiter } from "./limiters.ts";
import { SurfaceError } from "../errors.ts";
import { internalError } from "../surface/fault.ts";

/** Current state of a server. */
export interface HttpStats {
  /** Open sessions. */
  readonly sessions: number;
  /** Open subscriptions and streams opened by GET, which `maxStreams` bounds. */
  readonly streams: number;
  /** Messages that were dropped because too many were kept. */
  readonly dropped: number;
  /** Requests that reached each stage. */
  readonly stages: StageCounts;
  /** State of each limit on what callers can make the server hold. */
  readonly limits: LimitUse;
}

/** Resolves when all answers have left this process, as far as can be known. */
export type Sent = () => Promise<void>;

const maxNameBytes = 200;

/** Milliseconds that aborted calls have to end. */
export const abortingMs = 1000;

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

function toAuthenticator(
  { scopes, report }: AppRuntime,
  { auth, path }: ResolvedHandler,
  budgets: HttpBudgets,
): Authenticator | undefined {
  return auth && createAuthenticator(auth, { scopes, path, clock: systemClock, report, budgets });
}

/** One app served over HTTP, by Node or another runtime. Call `close()` when done. */
export class Core {
  readonly serve: HttpServe;
  readonly budgets: HttpBudgets;
  readonly #setting: HttpSetting;
  readonly #health: Health;
  readonly #modern: ModernLeg;
  readonly #legacy: LegacyLeg | undefined;

  /** @throws SurfaceError `INVALID_OPTION` for an `auth` that nobody could use. */
  constructor(runtime: AppRuntime, options: ResolvedHandler) {
    const clock = systemClock;
    const { hosts, origins, path, isLocalOnly } = options;
    const budgets = createBudgets(options.limits, runtime.report);
    runtime.countParts(budgets.partBytes);
    const authenticator = toAuthenticator(runtime, options, budgets);
    const challenge = authenticator && ((scopes: readonly string[]) => authenticator.challenge(scopes));
    const setting: HttpSetting = {
      runtime,
      bounds: options,
      clock,
      counters: new StageCounters(),
      budgets,
      admission: new Admission(options),
      keepAlive: new KeepAlive(clock, options.keepAliveMs),
      limiter: toLimiter(options, clock),
      responder: new Responder(createAnswerRenderer(runtime.info), challenge),
    };
    this.budgets = budgets;
    this.#setting = setting;
    this.#health = new Health(setting);
    this.#modern = new ModernLeg(setting);
    this.#legacy = options.sessions ? new LegacyLeg(setting) : undefined;
    const front = new Front({
      setting,
      hosts,
      origins,
      localClients: isLocalOnly ? new LocalClients() : undefined,
      path,
      addressOf: options.clientAddress && createAddressReader(options.clientAddress, runtime.report),
      authenticator,
      health: this.#health.answer,
      modern: this.#modern,
      legacy: this.#legacy,
    });
    this.serve = front.serve;
  }

  /**
   * Ends every stream with its result and takes nothing new. Resolves when every request has its answer and the answers have left,
   * or after the time.
   */
  async drain(ms: number, sent: Sent): Promise<void> {
    this.#health.leave();
    await within(ms, Promise.all(this.#legs.map((leg) => leg.drain())).then(sent));
  }

  /**
   * Aborts what runs and releases everything but the app. Resolves when no handler runs and the answers have left, or after a
   * second. Callable twice.
   */
  async close(sent: Sent): Promise<void> {
    this.#health.close();
    const closed = Promise.all(this.#legs.map((leg) => leg.close())).then(sent);
    await within(abortingMs, Promise.all([closed, ...this.#legs.map((leg) => leg.idle())]));
    this.#setting.keepAlive.close();
  }

  /** Names of the handlers that run, also after the answer. */
  running(): readonly string[] {
    return [...new Set(this.#legs.flatMap(({ running }) => running.map(toName)))];
  }

  readonly stats = (): HttpStats => {
    const { admission, counters, runtime } = this.#setting;
    return {
      ...admission.counts,
      dropped: this.#modern.dropped + (this.#legacy?.dropped ?? 0),
      stages: counters.read(),
      limits: readUse(this.budgets, runtime.schemaBytes),
    };
  };

  get #legs(): readonly (ModernLeg | LegacyLeg)[] {
    return this.#legacy === undefined ? [this.#modern] : [this.#modern, this.#legacy];
  }
}

/** Settles with a promise, or after a time. Says whether it was the promise. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let stop: () => void = () => {};
  const late = new Promise<boolean>((resolve) => (stop = waitingClock.after(ms, () => resolve(false))));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    stop();
  }
}

/** How long an app may take to close, in milliseconds: it waits for its own handlers, which may not listen. */
export const appClosingMs = 2000;

function reportLeft(left: readonly string[], runtime: AppRuntime): void {
  const still = left.length === 0 ? "the application" : left.join(", ");
  const cause = new SurfaceError("TIMEOUT", `Closing over HTTP: ${still} still runs, and was left alone`);
  internalError(cause, "closing over HTTP", runtime.report);
}

/**
 * Closes an app after its server. Reports once what is still running although it was aborted, and waits no longer for it.
 *
 * @param left - names of the author's functions that still run.
 */
export async function closeApp(runtime: AppRuntime, left: readonly string[]): Promise<void> {
  const isClosed = await within(appClosingMs, runtime.close());
  if (!isClosed || left.length > 0) reportLeft(left, runtime);
}
