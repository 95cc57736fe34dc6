import { CallContext } from "../call/call-context.ts";
import type { RateLimiter } from "../call/rate-limiter.ts";
import { callerKey } from "../surface/caller-key.ts";
import type { Caller } from "../surface/caller.ts";
import { SurfaceError } from "../errors.ts";
import { CallQueue } from "../mcp/call-queue.ts";
import { progressTokenOf } from "../mcp/envelope.ts";
import { methodsOf, runMethod, toInternalAnswer, type Method, type Methods } from "../mcp/methods.ts";
import type { RequestFrame } from "../mcp/parse-frame.ts";
import { toProgressSink } from "../mcp/progress-sink.ts";
import type { RpcAnswer } from "../mcp/protocol.ts";
import { busy, closing, duplicateId, sessionNotFound, unknownMethod } from "../mcp/refusals.ts";
import type { RequestId } from "../mcp/request-id.ts";
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

/** A request under way. */
interface Running {
  readonly settle: (answer: RpcAnswer) => void;
  call?: CallContext;
  /** Its handler runs, and answers. */
  hasStarted: boolean;
}

/** A request that may be served. */
interface Admitted {
  readonly frame: RequestFrame;
  readonly extra: V1Extra;
  readonly caller: Caller;
  readonly running: Running;
}

const stallMs = 30_000;

/**
 * Answers what the client of one server asks, from our own handlers: the gate of a connection that somebody else has framed and
 * greeted. Always legacy, which is all that the SDK 1.x speaks. Whoever made it closes it.
 */
export class V1Connection {
  readonly #setting: V1Setting;
  readonly #methods: Methods;
  readonly #running = new Map<RequestId, Running>();
  readonly #calls = new CallQueue<RequestId>();
  readonly #reads = new CallQueue<RequestId>();
  readonly #output: V1Output;
  readonly #subscriptions: SubscriptionSession;
  readonly #questions: V1Questions;
  readonly #log: V1Log;
  readonly #expiry: V1Expiry;
  readonly #limiter: RateLimiter | undefined;
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
    // The author's limiter may have more members, which mean nothing here.
    this.#limiter = rateLimit && { limit: (key, cost) => rateLimit.limit(key, cost) };
    this.#methods = methodsOf(runtime);
    this.#output = new V1Output((full) => this.#setFull(full));
    this.#questions = new V1Questions({ port, limits: runtime.limits, report: runtime.report });
    this.#log = new V1Log(port, this.#output, logsItself);
    this.#subscriptions = new SubscriptionSession({
      runtime,
      send: (json) => this.#output.send(json, (notice) => port.notify(notice)),
      answer: (id, answer) => this.#answer(id, answer),
      clock: systemClock,
      stallMs,
      // A client may have its reasons for not reading, or not have asked again yet.
      onStalled: () => {},
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
    if (runtime.refuse(owner) === undefined) this.#subscriptions.initialised(owner);
  }

  /** Aborts everything that runs, and ends every subscription. Nothing is told after it, and nothing begun. Callable twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#expiry.end();
    this.#subscriptions.close();
    this.#questions.close();
    this.#calls.clear();
    this.#reads.clear();
    const all = [...this.#running.values()];
    this.#running.clear();
    for (const { call, hasStarted, settle } of all) {
      call?.abort(new SurfaceError("CLOSED", "Calling: the server is closing"));
      if (!hasStarted) settle(closing);
    }
  }

  /** Its client says something, which it says to the server as well. */
  #hear(message: unknown): void {
    const method: unknown =
      typeof message === "object" && message !== null ? Reflect.get(message, "method") : undefined;
    if (method === "notifications/roots/list_changed") this.#questions.rootsChanged();
  }

  #setFull(full: boolean): void {
    this.#calls.hold(full);
    this.#reads.hold(full);
    this.#questions.hold(full);
    this.#updateListening();
  }

  /** What nobody reads, or nobody may read any more, is kept as what has changed since. */
  #updateListening(): void {
    this.#subscriptions.setOutputFull(this.#output.isFull() || this.#expiry.isExpired);
  }

  #receive(asked: V1Asked, settle: Running["settle"]): void {
    const { extra, method } = asked;
    if (this.#isClosed) return settle(closing);
    const frame = toFrame(asked, this.#setting.runtime.limits);
    if (frame.kind === "error") return settle(frame);
    if (this.#running.has(frame.id)) return settle(duplicateId);
    const { runtime, options, port } = this.#setting;
    try {
      const caller = toCaller(options, extra, port.clientInfo);
      const refusal = this.#refuse(caller);
      if (refusal !== undefined) return settle(refusal);
      this.#serve({ frame, extra, caller, running: { settle, hasStarted: false } });
    } catch (cause) {
      this.#running.delete(frame.id);
      this.#subscriptions.cancel(frame.id);
      settle(toInternalAnswer(cause, method, runtime.report));
    }
  }

  #refuse(caller: Caller): RpcAnswer | undefined {
    if (this.#owner !== undefined && callerKey(this.#owner) !== callerKey(caller)) return sessionNotFound;
    const refusal = this.#setting.runtime.refuse(caller);
    if (refusal !== undefined) return refusal;
    if (this.#owner === undefined && this.#isInitialised) this.#subscriptions.recognised(caller);
    this.#owner = caller;
    this.#expiry.renew(caller.expiresAt);
    return undefined;
  }

  #serve(admitted: Admitted): void {
    const { frame, extra, caller, running } = admitted;
    const { id, method, params } = frame;
    const token = progressTokenOf(params);
    if (typeof token === "object") return running.settle(token);
    this.#running.set(id, running);
    this.#followSignal(admitted);
    const served = this.#methods.legacy.get(method);
    if (served === undefined) {
      if (!this.#subscriptions.serve(frame, "legacy", caller)) this.#answer(id, unknownMethod);
      return;
    }
    running.call = new CallContext({
      sink:
        token === undefined
          ? undefined
          : toProgressSink(token, {
              send: (json) => this.#output.send(json, (notice) => extra.sendNotification(notice)),
              isFull: this.#output.isFull,
            }),
      log: this.#setting.runtime.logs ? this.#log.sinkFor(extra) : undefined,
      caller,
      limiter: this.#limiter,
      asking: this.#questions.portFor(extra),
    });
    this.#run(admitted, served, running.call);
  }

  #followSignal({ frame, extra, running }: Admitted): void {
    // A turn later: the signal fires as well when the connection closes, and then the server says so right behind it.
    const cancel = (): void => queueMicrotask(() => this.#cancel(frame.id, running));
    if (extra.signal.aborted) cancel();
    else extra.signal.addEventListener("abort", cancel, { once: true });
  }

  #run({ frame, running }: Admitted, method: Method, call: CallContext): void {
    const { id, method: name, params } = frame;
    const { turn } = method;
    const queue = turn === "none" ? undefined : turn === "calls" ? this.#calls : this.#reads;
    if (queue?.full) return this.#answer(id, busy);
    const start = async (): Promise<void> => {
      running.hasStarted = true;
      const { report } = this.#setting.runtime;
      const request = { era: "legacy", call, log: this.#log } as const;
      running.settle(await runMethod({ name, method, params, request, report }));
      if (this.#running.get(id) === running) this.#running.delete(id);
    };
    if (queue === undefined) return void start();
    // Of one that was cancelled the place is free when its work has ended, and not when its client was told.
    queue.add(id, () => void start().finally(() => call.whenIdle(() => queue.done())));
  }

  /** Ends a request that nobody waits for; what it is answered with is dropped by the server. */
  #cancel(id: RequestId, running: Running): void {
    if (this.#running.get(id) !== running) return;
    this.#running.delete(id);
    this.#subscriptions.cancel(id);
    this.#calls.withdraw(id);
    this.#reads.withdraw(id);
    running.call?.cancel();
    if (!running.hasStarted) running.settle(closing);
  }

  #answer(id: RequestId, answer: RpcAnswer): void {
    const running = this.#running.get(id);
    this.#running.delete(id);
    running?.settle(answer);
  }
}
