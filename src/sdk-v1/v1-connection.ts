import { CallContext } from "../call/call-context.ts";
import type { RateLimiter } from "../call/rate-limiter.ts";
import { callerKey } from "../surface/caller-key.ts";
import type { Caller } from "../surface/caller.ts";
import { TurnQueues } from "../mcp/call-queue.ts";
import { Dispatcher, type ClientRequest } from "../mcp/dispatcher.ts";
import { toInternalAnswer } from "../mcp/methods.ts";
import type { RequestFrame } from "../mcp/parse-frame.ts";
import { toProgressSink } from "../mcp/progress-sink.ts";
import { closing, sessionNotFound, type RpcAnswer, type RpcError } from "../mcp/protocol.ts";
import type { ResolvedView } from "../mcp/resolved-view.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import { SubscriptionSession } from "../mcp/subscriptions/subscription-session.ts";
import { systemClock } from "../surface/system-clock.ts";
import { toCaller, toUnknownCaller, type AttachOptions } from "./attach-options.ts";
import { toFrame, toResult } from "./v1-frame.ts";
import { V1Expiry } from "./v1-expiry.ts";
import { V1Failure } from "./v1-failure.ts";
import { V1Log } from "./v1-log.ts";
import { V1Output } from "./v1-output.ts";
import type { V1Port } from "./v1-port.ts";
import { V1Questions } from "./v1-questions.ts";
import type { V1Asked, V1Extra } from "./v1-extra.ts";

/** What a connection is made of. */
export interface V1Setting {
  readonly runtime: AppRuntime;
  readonly port: V1Port;
  readonly options: AttachOptions;
  /** Whether the level of the client's log is kept by the server itself. */
  readonly logsItself: boolean;
}

/** Takes the answer of a request. */
type Settle = (answer: RpcAnswer) => void;

/** What all requests of one connection share. */
interface Shared {
  readonly logs: boolean;
  readonly log: V1Log;
  readonly output: V1Output;
  readonly questions: V1Questions;
  readonly limiter: RateLimiter | undefined;
}

/** A request that the SDK has read, and the promise that it waits for. */
class V1Request implements ClientRequest {
  readonly era = "legacy";
  readonly version = undefined;
  readonly frame: RequestFrame;
  readonly caller: Caller;
  readonly view: ResolvedView;
  readonly answer: Settle;
  readonly #extra: V1Extra;
  readonly #shared: Shared;

  constructor(shared: Shared, frame: RequestFrame, { extra, caller, view, settle }: V1Origin) {
    this.#shared = shared;
    this.frame = frame;
    this.#extra = extra;
    this.caller = caller;
    this.view = view;
    this.answer = settle;
  }

  get log(): V1Log {
    return this.#shared.log;
  }

  open(token: string | number | undefined): CallContext {
    const { logs, log, output, questions, limiter } = this.#shared;
    const extra = this.#extra;
    const send = (json: string): void => output.send(json, (notice) => extra.sendNotification(notice));
    return new CallContext({
      sink: token === undefined ? undefined : toProgressSink(token, { send, isFull: output.isFull }),
      log: logs ? log.sinkFor(extra) : undefined,
      caller: this.caller,
      limiter,
      asking: questions.portFor(extra),
    });
  }

  /** The SDK drops the answer of a cancelled request, and waits for it. */
  cancelled(): void {
    this.answer(closing);
  }
}

/** Origin of a request. */
interface V1Origin {
  readonly extra: V1Extra;
  readonly caller: Caller;
  readonly view: ResolvedView;
  readonly settle: Settle;
}

const stallMs = 30_000;

/**
 * Answers what the client of one server asks, from our own handlers: the gate of a connection that somebody else has framed and
 * greeted. Always legacy, which is all that the SDK 1.x speaks. Whoever made it closes it.
 */
export class V1Connection {
  readonly #setting: V1Setting;
  readonly #queues = new TurnQueues();
  readonly #output: V1Output;
  readonly #subscriptions: SubscriptionSession;
  readonly #questions: V1Questions;
  readonly #expiry: V1Expiry;
  readonly #shared: Shared;
  readonly #dispatcher: Dispatcher<V1Request>;
  /**
   * The caller of the newest request; all must have one id. The SDK says who its client is with a request only, so until the
   * first one the lists are watched as an unknown caller sees them.
   */
  #owner: Caller | undefined;
  #isInitialised = false;
  #isClosed = false;

  constructor(setting: V1Setting) {
    const { runtime, port, logsItself, options } = setting;
    this.#setting = setting;
    const { rateLimit } = options;
    this.#output = new V1Output((full) => this.#setFull(full));
    this.#questions = new V1Questions({ port, limits: runtime.limits, report: runtime.report });
    this.#shared = {
      logs: runtime.logs,
      log: new V1Log(port, this.#output, logsItself),
      output: this.#output,
      questions: this.#questions,
      // The author's limiter may have more members, which mean nothing here.
      limiter: rateLimit && { limit: (key, cost) => rateLimit.limit(key, cost) },
    };
    this.#subscriptions = new SubscriptionSession({
      runtime,
      send: (json) => this.#output.send(json, (notice) => port.notify(notice)),
      answer: (id, answer) => this.#dispatcher.answer(id, answer),
      clock: systemClock,
      stallMs,
      // A client may have its reasons for not reading, or not have asked again yet.
      onStalled: () => {},
    });
    this.#dispatcher = new Dispatcher<V1Request>({
      runtime,
      subscriptions: this.#subscriptions,
      queueOf: (turn) => this.#queues.of(turn),
    });
    this.#expiry = new V1Expiry(systemClock, () => this.#updateListening());
  }

  /** Answers one request: a result, or a rejection with an error that has a code. Both are dropped where it was cancelled. */
  serve(asked: V1Asked): Promise<object> {
    return new Promise((resolve, reject) => {
      this.#receive(asked, (answer) => {
        if (answer.kind === "error") reject(new V1Failure(answer));
        else resolve(toResult(answer));
      });
    });
  }

  /** The handshake is complete. */
  initialised(): void {
    if (!this.#isInitialised) this.#setting.port.onMessage((message) => this.#hear(message));
    this.#isInitialised = true;
    if (this.#isClosed) return;
    const { options, port, runtime } = this.#setting;
    const owner = this.#owner ?? toUnknownCaller(options, port.clientInfo);
    if (runtime.viewFor(owner).kind === "view") this.#subscriptions.initialised(owner);
  }

  /** Aborts everything that runs, and ends every subscription. Nothing is told after it, and nothing begun. Callable twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#expiry.end();
    this.#subscriptions.close();
    this.#questions.close();
    this.#dispatcher.close();
  }

  /** Its client says something, which it says to the server as well. */
  #hear(message: unknown): void {
    const method: unknown =
      typeof message === "object" && message !== null ? Reflect.get(message, "method") : undefined;
    if (method === "notifications/roots/list_changed") this.#questions.rootsChanged();
  }

  #setFull(full: boolean): void {
    this.#queues.hold(full);
    this.#questions.hold(full);
    this.#updateListening();
  }

  /** What nobody reads, or nobody may read any more, is kept as what has changed since. */
  #updateListening(): void {
    this.#subscriptions.setOutputFull(this.#output.isFull() || this.#expiry.isExpired);
  }

  #receive(asked: V1Asked, settle: Settle): void {
    const { extra, method } = asked;
    const { runtime, options, port } = this.#setting;
    if (this.#isClosed) return settle(closing);
    const frame = toFrame(asked, runtime.limits);
    if (frame.kind === "error") return settle(frame);
    try {
      const caller = toCaller(options, extra, port.clientInfo);
      const view = this.#admit(caller);
      if (view.kind === "error") return settle(view);
      this.#serve(new V1Request(this.#shared, frame, { extra, caller, view, settle }), extra.signal);
    } catch (cause) {
      settle(toInternalAnswer(cause, method, runtime.report));
    }
  }

  #admit(caller: Caller): ResolvedView | RpcError {
    if (this.#owner !== undefined && callerKey(this.#owner) !== callerKey(caller)) return sessionNotFound;
    const view = this.#setting.runtime.viewFor(caller);
    if (view.kind === "error") return view;
    if (this.#owner === undefined && this.#isInitialised) this.#subscriptions.recognised(caller);
    this.#owner = caller;
    this.#expiry.renew(caller.expiresAt);
    return view;
  }

  #serve(request: V1Request, signal: AbortSignal): void {
    const { id } = request.frame;
    // A turn later: the signal fires as well when the connection closes, and then the server says so right behind it.
    const cancel = (): void => queueMicrotask(() => this.#dispatcher.cancel(id, request));
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    this.#dispatcher.serve(request);
  }
}
