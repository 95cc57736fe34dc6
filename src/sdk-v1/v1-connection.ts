import { CallContext, type LogSink } from "../call/call-context.ts";
import type { RateLimiter } from "../call/limit-call.ts";
import { createQueues, ClientRequest, Dispatcher, type AdmittedRequest } from "../mcp/dispatcher.ts";
import { readClientExtensions, type ClientExtension } from "../mcp/extensions/extensions.ts";
import { ObservedChannel } from "../observe/observed-channel.ts";
import { tellRefused } from "../mcp/observed-request.ts";
import { ClientLog, toProgressSink } from "../mcp/notifications.ts";
import {
  closing,
  progressTokenOf,
  sessionNotFound,
  toInternalAnswer,
  type RpcAnswer,
  type RpcError,
} from "../mcp/protocol.ts";
import type { ResolvedView } from "../mcp/resolved-view.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import { SubscriptionSession } from "../mcp/subscriptions/subscription-session.ts";
import { callerKey, type Caller } from "../surface/caller.ts";
import { systemClock } from "../surface/system-clock.ts";
import { toCaller, toUnknownCaller, type AttachOptions } from "./attach-options.ts";
import { toFrame, toResult, V1Failure, V1Questions, type V1Request } from "./v1-messages.ts";
import type { V1Extra, V1Port } from "./v1-port.ts";

/** The most notifications on their way to the transport before the output counts as full. */
const maxPending = 256;

/** Sends notifications, and counts those that the transport has not taken: it takes as long as its client reads. */
class V1Output {
  readonly #onFull: (full: boolean) => void;
  #pending = 0;
  #isFull = false;

  /** @param onFull - called when notifications begin to pile up, and when there is room again. */
  constructor(onFull: (full: boolean) => void) {
    this.#onFull = onFull;
  }

  readonly isFull = (): boolean => this.#isFull;

  /** Sends a message, given as JSON. A failure is ignored: then no client reads any more. */
  send(json: string, send: (message: object) => Promise<unknown>): void {
    this.#count(1);
    // Ours, and an object.
    void send(JSON.parse(json) as object)
      .catch(() => {})
      .finally(() => this.#count(-1));
  }

  #count(change: 1 | -1): void {
    this.#pending += change;
    // Free again at half of it, or the very next notification would fill it.
    const isFull = this.#pending >= (this.#isFull ? maxPending / 2 : maxPending);
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#onFull(isFull);
  }
}

/** Dependencies of a {@link V1Connection}. */
export interface V1ConnectionDeps {
  readonly runtime: AppRuntime;
  readonly port: V1Port;
  readonly options: AttachOptions;
  /** Whether the server keeps the level of its client's log. */
  readonly logsItself: boolean;
}

/** The way back to a request of the SDK. */
interface V1Reply {
  readonly log: ClientLog;
  readonly extensions: ReadonlySet<ClientExtension>;
  open(token: string | number | undefined): CallContext;
  settle(answer: RpcAnswer): void;
}

class V1ClientRequest extends ClientRequest {
  readonly version = undefined;
  readonly log: ClientLog;
  readonly token: ReturnType<typeof progressTokenOf>;
  readonly #reply: V1Reply;

  constructor(sent: AdmittedRequest, reply: V1Reply) {
    super(sent, "legacy");
    this.log = reply.log;
    this.token = progressTokenOf(sent.frame.params);
    this.#reply = reply;
  }

  override get extensions(): ReadonlySet<ClientExtension> {
    return this.#reply.extensions;
  }

  open(token: string | number | undefined): CallContext {
    return this.#reply.open(token);
  }

  answer(answer: RpcAnswer): void {
    this.#reply.settle(answer);
  }

  override cancelled(): void {
    // The SDK drops the answer of a cancelled request, and waits for it.
    this.#reply.settle(closing);
  }
}

const stallMs = 30_000;

/** The longest delay that a timer can have, in milliseconds. */
const maxDelayMs = 2 ** 31 - 1;

/**
 * Serves the requests that a server of the SDK 1.x has read, by the dispatcher of every other connection. Always up to 2025-11-25.
 * Call `close()` when done.
 */
export class V1Connection {
  readonly #deps: V1ConnectionDeps;
  readonly #log = new ClientLog();
  readonly #channel: ObservedChannel;
  readonly #queues = createQueues();
  readonly #output = new V1Output((full) => this.#setFull(full));
  readonly #subscriptions: SubscriptionSession;
  readonly #questions: V1Questions;
  readonly #limiter: RateLimiter | undefined;
  readonly #dispatcher: Dispatcher<ClientRequest>;
  /**
   * The caller of the newest request; all must have one id. The SDK says who its client is with a request only, so until the
   * first one the lists are watched as an unknown caller sees them.
   */
  #owner: Caller | undefined;
  /** Whether the token of the newest request has expired: until another request, no change is announced. */
  #isExpired = false;
  #stopExpiry: (() => void) | undefined;
  #isInitialised = false;
  #isClosed = false;

  constructor(deps: V1ConnectionDeps) {
    const { runtime, port, options, logsItself } = deps;
    this.#deps = deps;
    this.#channel = new ObservedChannel(runtime.observers, "sdk-v1");
    // The server knows which lines its client wants to read.
    if (logsItself) this.#log.setLevel({ level: "debug" });
    const { rateLimit } = options;
    // The author's limiter may have more members, which mean nothing here.
    this.#limiter = rateLimit && { limit: (key, cost) => rateLimit.limit(key, cost) };
    this.#questions = new V1Questions(port, runtime);
    this.#subscriptions = new SubscriptionSession({
      runtime,
      send: (json) => this.#output.send(json, (notice) => port.notify(notice)),
      answer: (id, answer) => this.#dispatcher.answer(id, answer),
      clock: systemClock,
      stallMs,
      // A client may have its reasons for not reading, or not have asked again yet.
      onStalled: () => {},
    });
    this.#dispatcher = new Dispatcher({
      runtime,
      channel: this.#channel,
      subscriptions: this.#subscriptions,
      queueOf: (turn) => this.#queues[turn],
    });
  }

  /** Answers one request with a result, or rejects with an error that has a code. The SDK drops both after a cancellation. */
  serve(request: V1Request): Promise<object> {
    return new Promise((resolve, reject) => {
      this.#receive(request, (answer) => {
        if (answer.kind === "error") reject(new V1Failure(answer));
        else resolve(toResult(answer));
      });
    });
  }

  /** Completes the handshake. Callable twice. */
  initialised(): void {
    const { options, port, runtime } = this.#deps;
    if (!this.#isInitialised) port.onMessage((method) => this.#questions.notified(method));
    this.#isInitialised = true;
    if (this.#isClosed) return;
    const owner = this.#owner ?? toUnknownCaller(options, port.clientInfo);
    this.#channel.start(owner, undefined);
    if (runtime.viewFor(owner).kind === "view") this.#subscriptions.initialised(owner);
  }

  /** Aborts all calls, ends all subscriptions, and sends no more notifications. Callable twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopExpiry?.();
    this.#subscriptions.close();
    this.#questions.drain();
    this.#dispatcher.close();
    this.#channel.end("closed");
  }

  #setFull(full: boolean): void {
    this.#queues.calls.hold(full);
    this.#queues.reads.hold(full);
    this.#questions.hold(full);
    this.#updateListening();
  }

  /** Announces changes, or keeps them while the client does not read or its token has expired. */
  #updateListening(): void {
    this.#subscriptions.setOutputFull(this.#output.isFull() || this.#isExpired);
  }

  #receive(request: V1Request, settle: (answer: RpcAnswer) => void): void {
    const { extra, method } = request;
    const { runtime, options, port } = this.#deps;
    const refuse = (error: RpcError, caller?: Caller): void => {
      if (runtime.observers.all !== undefined)
        tellRefused(runtime.observers, { error, channel: this.#channel, caller });
      settle(error);
    };
    if (this.#isClosed) return refuse(closing);
    const frame = toFrame(request, runtime.limits);
    if (frame.kind === "error") return refuse(frame);
    try {
      const caller = toCaller(options, extra, port.clientInfo);
      const view = this.#admit(caller);
      if (view.kind === "error") return refuse(view, caller);
      const extensions = readClientExtensions(port.clientCapabilities);
      const open: V1Reply["open"] = (token) => this.#open(token, caller, extra);
      this.#serve(
        new V1ClientRequest({ frame, caller, view }, { log: this.#log, extensions, open, settle }),
        extra.signal,
      );
    } catch (cause) {
      settle(toInternalAnswer(cause, `method "${method}"`, runtime.report));
    }
  }

  #admit(caller: Caller): ResolvedView | RpcError {
    const owner = this.#owner;
    if (owner !== undefined && callerKey(owner) !== callerKey(caller)) return sessionNotFound;
    const view = this.#deps.runtime.viewFor(caller);
    if (view.kind === "error") return view;
    if (owner === undefined && this.#isInitialised) this.#subscriptions.recognised(caller);
    this.#owner = caller;
    if (caller.expiresAt !== owner?.expiresAt) this.#watchExpiry(caller);
    return view;
  }

  #watchExpiry(caller: Caller): void {
    this.#stopExpiry?.();
    const { expiresAt = Number.POSITIVE_INFINITY } = caller;
    const leftMs = expiresAt * 1000 - Date.now();
    this.#isExpired = leftMs <= 0;
    if (leftMs > 0 && leftMs < Number.POSITIVE_INFINITY) {
      this.#stopExpiry = systemClock.after(Math.min(leftMs, maxDelayMs), () => this.#watchExpiry(caller));
    }
    this.#updateListening();
  }

  #open(token: string | number | undefined, caller: Caller, extra: V1Extra): CallContext {
    const { isFull } = this.#output;
    const send = (json: string): void => this.#output.send(json, (notice) => extra.sendNotification(notice));
    return new CallContext({
      sink: token === undefined ? undefined : toProgressSink(token, { send, isFull }),
      log: this.#logSinkFor(extra, send),
      caller,
      limiter: this.#limiter,
      asking: this.#questions.portTo(extra),
    });
  }

  #logSinkFor(extra: V1Extra, send: (json: string) => void): LogSink | undefined {
    const { runtime, port, logsItself } = this.#deps;
    if (!runtime.logs) return undefined;
    const { isFull } = this.#output;
    if (!logsItself) return this.#log.sinkTo({ send, isFull });
    // The server compares the level itself.
    const log = (json: string): void => this.#output.send(json, (notice) => port.log(notice, extra.sessionId));
    return this.#log.sinkTo({ send: log, isFull });
  }

  #serve(request: ClientRequest, signal: AbortSignal): void {
    const { id } = request.frame;
    // A turn later: the signal fires as well when the connection closes, and then the server says so right behind it.
    const cancel = (): void => queueMicrotask(() => this.#dispatcher.cancel(id, request));
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    this.#dispatcher.serve(request);
  }
}
