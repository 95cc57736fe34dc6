import type { Cluster, OpenedCluster } from "../cluster/cluster.ts";
import { SurfaceError } from "../errors.ts";
import type { ClientRequest } from "../mcp/dispatcher.ts";
import { ownParam, createAnswerRenderer } from "../mcp/protocol.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import { clipText } from "../schema/visible-text.ts";
import { internalError } from "../surface/fault.ts";
import { atMost, systemClock } from "../surface/system-clock.ts";
import { createAddressReader } from "./addresses.ts";
import { Admission, type StageCounts, StageCounters } from "./admission.ts";
import { createAuthenticator } from "./auth/create-authenticator.ts";
import { createBudgets, type HttpBudgets, type LimitUse, readUse } from "./budgets.ts";
import { LocalClients } from "./check-head.ts";
import { Health } from "./health.ts";
import type { HttpDeps } from "./http-deps.ts";
import { HttpPipeline } from "./http-pipeline.ts";
import { createCallLimiter } from "./limiters.ts";
import type { HttpServe } from "./message.ts";
import type { ResolvedHandler } from "./options.ts";
import { Responder } from "./respond.ts";
import { SessionHandler } from "./sessions/session-handler.ts";
import { KeepAlive } from "./sse.ts";
import { StatelessHandler } from "./stateless-handler.ts";

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

/** Resolves when all answers have left this process, as far as the runtime can tell. */
export type Sent = () => Promise<void>;

const maxNameBytes = 200;

/** Milliseconds that aborted calls have to end. */
export const abortingMs = 1000;

/** Kinds of handlers, by the method that runs them. */
const handlerKinds: ReadonlyMap<string, string> = new Map([
  ["tools/call", "tool"],
  ["resources/read", "resource"],
  ["prompts/get", "prompt"],
]);

/** Names a handler for the log. */
function toName({ frame: { method, params } }: ClientRequest): string {
  const kind = handlerKinds.get(method) ?? method;
  const name = ownParam(params, "name") ?? ownParam(params, "uri");
  return typeof name === "string" ? `${kind} "${clipText(name, maxNameBytes)}"` : kind;
}

/** Lets an app join a cluster, which it leaves when it closes, and opens the cluster. */
function joinCluster({ join, info, report }: AppRuntime, cluster: Cluster): OpenedCluster {
  join(cluster);
  return cluster.open({ app: info.name, report: (cause) => void internalError(cause, "the cluster", report) });
}

/** One app served over HTTP, by Node or another runtime. Call `close()` when done. */
export class HttpCore {
  readonly serve: HttpServe;
  readonly budgets: HttpBudgets;
  readonly #setting: HttpDeps;
  readonly #health: Health;
  readonly #cluster: OpenedCluster | undefined;
  readonly #handlers: readonly (StatelessHandler | SessionHandler)[];

  /** @throws SurfaceError `INVALID_OPTION` for an `auth` that no request could pass. */
  constructor(runtime: AppRuntime, options: ResolvedHandler) {
    const clock = systemClock;
    const { auth, path, clientAddress, cluster } = options;
    const { report, scopes } = runtime;
    const budgets = createBudgets(options.limits, report);
    runtime.countParts(budgets.partBytes);
    const authenticator = auth && createAuthenticator(auth, { scopes, path, clock, report, budgets });
    const addressOf = clientAddress && createAddressReader(clientAddress, report);
    const setting: HttpDeps = {
      runtime,
      bounds: options,
      clock,
      cluster,
      counters: new StageCounters(),
      budgets,
      admission: new Admission(options),
      keepAlive: new KeepAlive(clock, options.keepAliveMs),
      limiter: createCallLimiter(options, clock),
      responder: new Responder({
        render: createAnswerRenderer(runtime.info),
        challenge: authenticator && ((missing) => authenticator.challenge(missing)),
        observers: runtime.observers,
        addressOf,
      }),
    };
    const modern = new StatelessHandler(setting);
    const sharing = options.sessions === "sticky" ? undefined : cluster;
    const legacy = options.sessions ? new SessionHandler(setting, sharing) : undefined;
    this.budgets = budgets;
    this.#setting = setting;
    this.#health = new Health(setting);
    this.#handlers = legacy === undefined ? [modern] : [modern, legacy];
    const front = new HttpPipeline({
      setting,
      hosts: options.hosts,
      origins: options.origins,
      localClients: options.isLocalOnly ? new LocalClients() : undefined,
      path,
      addressOf,
      authenticator,
      health: this.#health.answer,
      modern,
      legacy,
    });
    this.serve = front.serve;
    // Last: nothing above may throw once it is open.
    this.#cluster = cluster && joinCluster(runtime, cluster);
  }

  /** Resolves when the store of the cluster was reached; at once without a cluster. Rejects as {@link OpenedCluster.ready} does. */
  get ready(): Promise<void> {
    return this.#cluster?.ready ?? Promise.resolve();
  }

  /**
   * Ends every stream with its result, and refuses new requests. Resolves when every request has its answer and the answers have
   * left, or after the time.
   */
  async drain(ms: number, sent: Sent): Promise<void> {
    this.#health.leave();
    await atMost(Promise.all(this.#handlers.map((handler) => handler.drain())).then(sent), ms);
  }

  /**
   * Aborts running calls and releases everything but the app. Resolves when no handler runs and the answers have left, or after a
   * second. Callable twice.
   */
  async close(sent: Sent): Promise<void> {
    this.#health.close();
    const closed = Promise.all(this.#handlers.map((handler) => handler.close())).then(sent);
    await atMost(Promise.all([closed, ...this.#handlers.map((handler) => handler.idle())]), abortingMs);
    this.#setting.keepAlive.close();
    // Last: the end of a session is announced to the other replicas.
    if (this.#cluster !== undefined) await atMost(this.#cluster.close(), abortingMs);
  }

  /** Names of the author's functions that run, also after the answer. */
  running(): readonly string[] {
    return [...new Set(this.#handlers.flatMap(({ running }) => running.map(toName)))];
  }

  readonly stats = (): HttpStats => {
    const { admission, counters, runtime } = this.#setting;
    return {
      ...admission.counts,
      dropped: this.#handlers.reduce((sum, { dropped }) => sum + dropped, 0),
      stages: counters.read(),
      limits: readUse(this.budgets, runtime.schemaBytes),
    };
  };
}

/** Milliseconds that an app may take to close: it waits for its own handlers, which may ignore their signal. */
export const appClosingMs = 2000;

/**
 * Closes an app after its server. Reports once what still runs although it was aborted, and waits no longer for it.
 *
 * @param left - names of the author's functions that still run.
 */
export async function closeApp(runtime: AppRuntime, left: readonly string[]): Promise<void> {
  const isClosed = await atMost(
    runtime.close().then(() => true),
    appClosingMs,
  );
  if (isClosed === true && left.length === 0) return;
  const running = left.length === 0 ? "the application" : left.join(", ");
  const cause = `Cannot close over HTTP in time: ${running} ignores its abort signal and still runs`;
  internalError(new SurfaceError("TIMEOUT", cause), "closing over HTTP", runtime.report);
}
