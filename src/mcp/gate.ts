import { CallContext, type LogSink } from "../call/call-context.ts";
import type { AskKind } from "../catalog/asking.ts";
import { anonymous, type Caller } from "../surface/caller.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { Clock } from "../spine/clock.ts";
import { clientKinds } from "./asking/ask-protocol.ts";
import { PushedAsks } from "./asking/pushed-asks.ts";
import { createQueues } from "./call-queue.ts";
import { ClientRequest, Dispatcher, type AdmittedRequest } from "./dispatcher.ts";
import { ConnectionCaller, EraState, logLevelOf, progressTokenOf } from "./envelope.ts";
import { negotiate } from "./handshake.ts";
import { parseFrame, toFrameError, type FrameFault, type NotificationFrame, type RequestFrame } from "./parse-frame.ts";
import { ClientLog, LastSteps, toLogSink, toProgressSink, type NotificationOutput } from "./notifications.ts";
import { duplicateId, ownParam, unknownMethod, type Era, type RequestId, type RpcAnswer } from "./protocol.ts";
import { createAnswerRenderer, type AnswerRenderer } from "./protocol.ts";
import type { AppRuntime } from "./servable-app.ts";
import { SubscriptionSession } from "./subscriptions/subscription-session.ts";

/** Dependencies of a {@link Gate}. */
export interface GateOptions {
  readonly runtime: AppRuntime;
  /** Writes one frame to the client. */
  readonly send: (json: string) => void;
  /** Who asks, and by which view. Default: somebody of whom nothing is known, by the default one. */
  readonly caller?: Caller;
  /** Default: this machine's. */
  readonly clock?: Clock;
  /** How long the output may stay full until nothing is watched for it any more, in milliseconds. Default 30,000. */
  readonly stallMs?: number;
}

const defaultStallMs = 30_000;

/** What all requests of one connection share. */
interface Connection {
  readonly runtime: AppRuntime;
  readonly clock: Clock;
  readonly asks: PushedAsks;
  /** The kinds of questions that the client can answer; set by the handshake, as the version is. */
  kinds: ReadonlySet<AskKind>;
  version: string | undefined;
  readonly log: ClientLog;
  /** Sends to the log of a client up to 2025-11-25; `undefined` if no handler can log. */
  readonly logSink: LogSink | undefined;
  readonly output: NotificationOutput;
  readonly answer: (request: GateRequest, answer: RpcAnswer) => void;
}

/** A request of one connection. */
class GateRequest extends ClientRequest {
  readonly #connection: Connection;
  #steps: LastSteps | undefined;

  constructor(connection: Connection, sent: AdmittedRequest, era: Era) {
    super(sent, era);
    this.#connection = connection;
  }

  get version(): string | undefined {
    return this.#connection.version;
  }

  get log(): ClientLog {
    return this.#connection.log;
  }

  get token(): ReturnType<typeof progressTokenOf> {
    return progressTokenOf(this.frame.params);
  }

  override get written(): Promise<void> | undefined {
    return this.#steps?.apart;
  }

  open(token: string | number | undefined): CallContext {
    const { clock, asks, logSink, output } = this.#connection;
    const { era, caller } = this;
    if (token !== undefined) this.#steps = new LastSteps(toProgressSink(token, output), clock);
    return new CallContext({
      sink: this.#steps?.sink,
      log: era === "legacy" ? logSink : this.#logSink(),
      caller,
      asking: era === "legacy" ? asks.port : undefined,
    });
  }

  #logSink(): LogSink | undefined {
    const { runtime, output } = this.#connection;
    const level = runtime.logs ? logLevelOf(this.frame.params) : undefined;
    return level && toLogSink(level, output);
  }

  answer(answer: RpcAnswer): void {
    this.#connection.answer(this, answer);
  }
}

/**
 * Serves one connection: checks every frame, decides the era and answers each request. Every request gets one answer, or none
 * after its client cancelled it.
 */
export class Gate {
  readonly #runtime: AppRuntime;
  readonly #send: (json: string) => void;
  readonly #era = new EraState();
  readonly #caller: ConnectionCaller;
  readonly #queues = createQueues();
  readonly #render: AnswerRenderer;
  /** Questions to the client, in the legacy era. */
  readonly #asks: PushedAsks;
  readonly #subscriptions: SubscriptionSession;
  readonly #dispatcher: Dispatcher<GateRequest>;
  readonly #connection: Connection;
  #outputFull = false;
  #closed = false;

  constructor({ runtime, send, clock = systemClock, stallMs = defaultStallMs, caller = anonymous }: GateOptions) {
    this.#runtime = runtime;
    this.#send = send;
    this.#caller = new ConnectionCaller(caller);
    this.#render = createAnswerRenderer(runtime.info);
    const asks = new PushedAsks({ kinds: () => this.#connection.kinds, send, report: runtime.report });
    this.#asks = asks;
    const log = new ClientLog();
    const output = { send, isFull: () => this.#outputFull };
    this.#connection = {
      runtime,
      clock,
      asks,
      kinds: clientKinds(undefined),
      version: undefined,
      log,
      logSink: runtime.logs ? log.sinkTo(output) : undefined,
      output,
      answer: (request, answer) => this.#onAnswer(request, answer),
    };
    this.#subscriptions = new SubscriptionSession({
      runtime,
      send,
      answer: (id, answer) => this.#dispatcher.answer(id, answer),
      clock,
      stallMs,
    });
    this.#dispatcher = new Dispatcher<GateRequest>({
      runtime,
      subscriptions: this.#subscriptions,
      queueOf: (turn) => this.#queues[turn],
    });
  }

  /** Says whether answers pile up unread: while they do, nothing is started or reported that would add to them. */
  setOutputFull(full: boolean): void {
    this.#outputFull = full;
    this.#queues.calls.hold(full);
    this.#queues.reads.hold(full);
    this.#subscriptions.setOutputFull(full);
    this.#asks.hold(full);
  }

  /** Takes one frame. Never throws. */
  receive(text: string): void {
    if (this.#closed) return;
    const frame = parseFrame(text, this.#runtime.limits);
    if (frame.kind === "request") this.#onRequest(frame);
    else if (frame.kind === "notification") this.#onNotification(frame);
    else if (frame.kind === "response") this.#asks.answer(frame);
    else if (frame.kind === "error") this.#answer(frame.id, frame, "legacy");
  }

  /** Answers a frame that never became a text. */
  refuse(fault: FrameFault): void {
    const error = toFrameError(fault);
    this.#answer(error.id, error, "legacy");
  }

  /** Aborts every running call and ends every subscription. Sends nothing afterwards. Callable twice. */
  close(): void {
    this.#subscriptions.close();
    this.#closed = true;
    this.#asks.close();
    this.#dispatcher.close();
  }

  #onRequest(frame: RequestFrame): void {
    const { id, method, params } = frame;
    if (this.#dispatcher.has(id)) return this.#answer(id, duplicateId, "legacy");
    if (method.startsWith("notifications/")) return this.#answer(id, unknownMethod, "legacy");
    const era = this.#era.admit(frame);
    if (typeof era !== "string") return this.#answer(id, era, "legacy");
    const caller = this.#caller.of(method, params, era);
    const view = this.#runtime.viewFor(caller);
    if (view.kind === "error") return this.#answer(id, view, era);
    if (method === "initialize" && era === "legacy") {
      this.#connection.kinds = clientKinds(ownParam(params, "capabilities"));
      this.#connection.version = negotiate(params);
    }
    this.#dispatcher.serve(new GateRequest(this.#connection, { frame, caller, view }, era));
  }

  #onNotification({ method, params }: NotificationFrame): void {
    if (method === "notifications/cancelled") return this.#cancel(params?.["requestId"]);
    if (!this.#era.isLegacy) return;
    this.#asks.notified(method);
    if (method === "notifications/initialized") this.#subscriptions.initialised(this.#caller.current);
  }

  #cancel(id: unknown): void {
    // Only ids that isRequestId() let in are known to the dispatcher.
    if (!this.#era.cancelInitialize(id)) this.#dispatcher.cancel(id as RequestId);
  }

  #onAnswer({ frame, era }: GateRequest, answer: RpcAnswer): void {
    if (frame.method === "initialize" && answer.kind === "result") this.#era.initialised(frame.id);
    this.#answer(frame.id, answer, era);
  }

  #answer(id: RequestId | null, answer: RpcAnswer, era: Era): void {
    if (!this.#closed) this.#send(this.#render(id, answer, era));
  }
}
