import { CallContext, type LogSink } from "../call/call-context.ts";
import type { AskKind } from "../catalog/asking/asking.ts";
import type { RefusalStage } from "../observe/observation.ts";
import { anonymous, type Caller } from "../surface/caller.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { Clock } from "../spine/clock.ts";
import { clientKinds } from "./asking/ask-protocol.ts";
import { PushedAsks } from "./asking/pushed-asks.ts";
import { ClientRequest, createQueues, Dispatcher, type AdmittedRequest } from "./dispatcher.ts";
import {
  checkEnvelope,
  checkInitialize,
  claimsModern,
  envelopeClientOf,
  logLevelOf,
  missingEnvelope,
  readClient,
  unsupportedVersion,
  versionOf,
  withClient,
} from "./envelope.ts";
import { readClientExtensions, type ClientExtension } from "./extensions/extensions.ts";
import { negotiate } from "./handshake.ts";
import { parseFrame, toFrameError, type FrameFault, type NotificationFrame, type RequestFrame } from "./parse-frame.ts";
import { ObservedChannel } from "../observe/observed-channel.ts";
import { tellRefused } from "./observed-request.ts";
import { ClientLog, LastSteps, toLogSink, toProgressSink, type NotificationOutput } from "./notifications.ts";
import {
  alreadyInitialised,
  createAnswerRenderer,
  duplicateId,
  notInitialised,
  ownParam,
  progressTokenOf,
  unknownMethod,
  type AnswerRenderer,
  type Era,
  type RequestId,
  type RpcAnswer,
  type RpcError,
} from "./protocol.ts";
import type { AppRuntime } from "./servable-app.ts";
import { SubscriptionSession } from "./subscriptions/subscription-session.ts";

/** Dependencies of a {@link McpConnection}. */
export interface McpConnectionDeps {
  readonly runtime: AppRuntime;
  /** Writes one frame to the client. */
  readonly send: (json: string) => void;
  /** @default the anonymous caller, by the default view */
  readonly caller?: Caller;
  /** @default the clock of this machine */
  readonly clock?: Clock;
  /** Milliseconds that the output may stay full until all watches stop. @default 30,000 */
  readonly stallMs?: number;
}

/** The state of a connection. `probed`: a modern client asked who is there, and may still fall back. */
type State = "opening" | "probed" | "modern" | "legacy";

type OpeningRequest = Pick<RequestFrame, "method" | "params">;

/**
 * The era of a connection: decided by its first requests and then fixed. A request that does not fit is refused before anything
 * runs.
 */
export class EraState {
  #state: State = "opening";
  #initializeId: RequestId | undefined;
  #mayInitialiseAgain = false;

  /** True after a successful handshake. Only clients up to 2025-11-25 send notifications other than cancellation. */
  get isLegacy(): boolean {
    return this.#state === "legacy";
  }

  /** Returns the era of a request, or the error that refuses it. A handshake counts once {@link initialised} is called. */
  admit(request: OpeningRequest): Era | RpcError {
    if (this.isLegacy) return this.#admitLegacy(request);
    if (claimsModern(request.params)) return this.#admitModern(request);
    if (request.method === "initialize") return this.#admitInitialize(request);
    // A ping is answered before the handshake, and decides nothing.
    if (this.#state === "opening") return request.method === "ping" ? "legacy" : notInitialised;
    return missingEnvelope;
  }

  /** Fixes the legacy era: the handshake of this id succeeded. */
  initialised(id: RequestId): void {
    this.#state = "legacy";
    this.#initializeId = id;
    this.#mayInitialiseAgain = false;
  }

  /** Returns whether this id is the handshake's. To cancel it, which the protocol forbids, only makes room for another one. */
  cancelInitialize(id: unknown): boolean {
    if (this.#initializeId === undefined || id !== this.#initializeId) return false;
    this.#mayInitialiseAgain = true;
    return true;
  }

  #admitLegacy(request: OpeningRequest): Era | RpcError {
    if (request.method !== "initialize") return "legacy";
    return this.#mayInitialiseAgain ? this.#admitInitialize(request) : alreadyInitialised;
  }

  #admitInitialize({ params }: OpeningRequest): Era | RpcError {
    if (this.#state === "modern") {
      const requested = params?.["protocolVersion"];
      return unsupportedVersion(typeof requested === "string" ? requested : "unknown");
    }
    return checkInitialize(params) ?? "legacy";
  }

  #admitModern({ method, params }: OpeningRequest): Era | RpcError {
    const wrong = checkEnvelope(params);
    if (wrong !== undefined) return wrong;
    if (method !== "server/discover") this.#state = "modern";
    else if (this.#state === "opening") this.#state = "probed";
    return "modern";
  }
}

/** State that all requests of one connection share. */
interface Connection {
  readonly clock: Clock;
  /** Questions to a client up to 2025-11-25. */
  readonly asks: PushedAsks;
  /** The kinds of questions that the client can answer. Only a handshake that succeeded sets them, and the version. */
  kinds: ReadonlySet<AskKind>;
  extensions: ReadonlySet<ClientExtension>;
  version: string | undefined;
  readonly log: ClientLog;
  /** Sends to the log of a client up to 2025-11-25; `undefined` if no handler can log. */
  readonly logSink: LogSink | undefined;
  readonly output: NotificationOutput;
  readonly answer: (request: GateRequest, answer: RpcAnswer) => void;
}

/** A request of one connection. */
class GateRequest extends ClientRequest {
  /** A handshake is answered by the version that it negotiates. */
  readonly version: string | undefined;
  readonly #connection: Connection;
  #steps: LastSteps | undefined;

  constructor(connection: Connection, sent: AdmittedRequest, era: Era) {
    super(sent, era);
    const { method, params } = sent.frame;
    this.version = method === "initialize" && era === "legacy" ? negotiate(params) : connection.version;
    this.#connection = connection;
  }

  get log(): ClientLog {
    return this.#connection.log;
  }

  get token(): ReturnType<typeof progressTokenOf> {
    return progressTokenOf(this.frame.params);
  }

  override get extensions(): ReadonlySet<ClientExtension> {
    return this.era === "legacy" ? this.#connection.extensions : super.extensions;
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
    const { logSink, output } = this.#connection;
    const level = logSink && logLevelOf(this.frame.params);
    return level && toLogSink(level, output);
  }

  answer(answer: RpcAnswer): void {
    this.#connection.answer(this, answer);
  }
}

/** Options of a refusal. */
interface RefusalOptions {
  /** @default "legacy" */
  readonly era?: Era;
  /** @default the caller of the connection */
  readonly caller?: Caller;
  /** @default the stage that the error stands for */
  readonly stage?: RefusalStage;
}

/**
 * Serves one connection: checks every frame, decides the era and answers each request. Every request gets one answer, or none
 * after its client cancelled it.
 */
export class McpConnection {
  readonly #runtime: AppRuntime;
  readonly #channel: ObservedChannel;
  readonly #send: (json: string) => void;
  readonly #era = new EraState();
  readonly #user: Caller;
  /** The user, with the program that the handshake named. */
  #caller: Caller;
  readonly #queues = createQueues();
  readonly #render: AnswerRenderer;
  readonly #subscriptions: SubscriptionSession;
  readonly #dispatcher: Dispatcher<GateRequest>;
  readonly #connection: Connection;
  /** Called when a request is over. */
  #onOver: (() => void) | undefined;
  #outputFull = false;
  #closed = false;

  constructor({ runtime, send, clock = systemClock, stallMs = 30_000, caller = anonymous }: McpConnectionDeps) {
    this.#runtime = runtime;
    this.#channel = new ObservedChannel(runtime.observers, "stdio");
    this.#send = send;
    this.#user = caller;
    this.#caller = caller;
    this.#render = createAnswerRenderer(runtime.info);
    const log = new ClientLog();
    const output = { send, isFull: () => this.#outputFull };
    this.#connection = {
      clock,
      asks: new PushedAsks({ kinds: () => this.#connection.kinds, send, report: runtime.report }),
      kinds: clientKinds(undefined),
      extensions: readClientExtensions(undefined),
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
      channel: this.#channel,
      subscriptions: this.#subscriptions,
      queueOf: (turn) => this.#queues[turn],
      onOver: () => this.#onOver?.(),
    });
  }

  /** Says whether answers pile up unread: while they do, nothing is started or reported that would add to them. */
  setOutputFull(full: boolean): void {
    this.#outputFull = full;
    // What is released may fill the output again, so each step asks how it is by then.
    this.#queues.calls.hold(this.#outputFull);
    this.#queues.reads.hold(this.#outputFull);
    this.#subscriptions.setOutputFull(this.#outputFull);
    this.#connection.asks.hold(this.#outputFull);
  }

  /** Takes one frame. Never throws. */
  receive(text: string): void {
    if (this.#closed) return;
    const frame = parseFrame(text, this.#runtime.limits);
    if (frame.kind === "request") this.#onRequest(frame);
    else if (frame.kind === "notification") this.#onNotification(frame);
    else if (frame.kind === "response") this.#connection.asks.answer(frame);
    else if (frame.kind === "error") this.#refuse(frame.id, frame, { stage: "frame" });
  }

  /** Answers a frame that never became a text. */
  refuse(fault: FrameFault): void {
    const error = toFrameError(fault);
    this.#refuse(error.id, error, { stage: "frame" });
  }

  /**
   * Ends every subscription, and resolves when every call has its answer. Call it when nothing more is received. Notices would delay
   * the answers, which have little time.
   */
  finish(): Promise<void> {
    this.#subscriptions.close();
    return new Promise((resolve) => {
      const check = (): void => {
        if (!this.#dispatcher.running.some(({ key }) => this.#dispatcher.has(key))) resolve();
      };
      this.#onOver = check;
      check();
    });
  }

  /** Aborts every running call and ends every subscription. Sends nothing afterwards. Callable twice. */
  close(): void {
    this.#subscriptions.close();
    this.#closed = true;
    this.#connection.asks.close();
    this.#dispatcher.close();
    this.#channel.end("closed");
  }

  #startSession(caller: Caller, { params }: RequestFrame): void {
    const version = versionOf(params);
    this.#channel.start(caller, typeof version === "string" ? version : undefined);
  }

  #onRequest(frame: RequestFrame): void {
    const { id, method } = frame;
    if (this.#dispatcher.has(id)) return this.#refuse(id, duplicateId);
    if (method.startsWith("notifications/")) return this.#refuse(id, unknownMethod);
    const era = this.#era.admit(frame);
    if (typeof era !== "string") return this.#refuse(id, era, { stage: "envelope" });
    const caller = this.#callerOf(frame, era);
    const view = this.#runtime.viewFor(caller);
    if (view.kind === "error") return this.#refuse(id, view, { era, caller });
    if (era === "modern" && this.#runtime.observers.all !== undefined) this.#startSession(caller, frame);
    this.#dispatcher.serve(new GateRequest(this.#connection, { frame, caller, view }, era));
  }

  /** Returns the caller of a request. A handshake names the program for all that follow, a modern request for itself. */
  #callerOf({ method, params }: RequestFrame, era: Era): Caller {
    if (era === "modern") return withClient(this.#user, envelopeClientOf(params));
    return method === "initialize" ? withClient(this.#user, readClient(ownParam(params, "clientInfo"))) : this.#caller;
  }

  #onNotification({ method, params }: NotificationFrame): void {
    if (method === "notifications/cancelled") return this.#cancel(params?.["requestId"]);
    if (!this.#era.isLegacy) return;
    this.#connection.asks.notified(method);
    if (method === "notifications/initialized") this.#subscriptions.initialised(this.#caller);
  }

  #cancel(id: unknown): void {
    // Only ids that isRequestId() let in are known to the dispatcher.
    if (!this.#era.cancelInitialize(id)) this.#dispatcher.cancel(id as RequestId);
  }

  #onAnswer(request: GateRequest, answer: RpcAnswer): void {
    if (request.frame.method === "initialize" && answer.kind === "result") this.#onInitialised(request);
    this.#answer(request.frame.id, answer, request.era);
  }

  #onInitialised({ frame, version, caller }: GateRequest): void {
    this.#era.initialised(frame.id);
    this.#caller = caller;
    this.#connection.version = version;
    this.#channel.start(caller, version);
    const capabilities = ownParam(frame.params, "capabilities");
    this.#connection.kinds = clientKinds(capabilities);
    this.#connection.extensions = readClientExtensions(capabilities);
  }

  /** Answers a message that cannot become a request. */
  #refuse(
    id: RequestId | null,
    error: RpcError,
    { era = "legacy", caller = this.#caller, stage }: RefusalOptions = {},
  ): void {
    const { observers } = this.#runtime;
    const staged = stage === undefined ? error : { ...error, stage };
    if (observers.all !== undefined) tellRefused(observers, { error: staged, channel: this.#channel, caller });
    this.#answer(id, error, era);
  }

  #answer(id: RequestId | null, answer: RpcAnswer, era: Era): void {
    if (!this.#closed) this.#send(this.#render(id, answer, era));
  }
}
