import { CallContext } from "../call/call-context.ts";
import { anonymous, type Caller } from "../surface/caller.ts";
import { SurfaceError } from "../errors.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { JsonObject } from "../schema/json.ts";
import type { Clock } from "../spine/clock.ts";
import type { Admitted, HotRun } from "./admitted.ts";
import { ConnectionAsks } from "./asking/connection-asks.ts";
import { CallQueue } from "./call-queue.ts";
import { ClientLog, loggedMethod, renderLogged, type LogOutput } from "./client-log.ts";
import { logLevelOf, progressTokenOf } from "./envelope.ts";
import { EraState } from "./era-state.ts";
import { toFrameError, type FrameFault } from "./frame-error.ts";
import type { Handler } from "./handlers.ts";
import { LastSteps } from "./last-steps.ts";
import { answerAsked, isNod, Methods, toInternalAnswer } from "./methods.ts";
import { parseFrame, type NotificationFrame, type RequestFrame } from "./parse-frame.ts";
import { toProgressSink, type ProgressOutput } from "./progress-sink.ts";
import { rpcCodes, toRpcError, toRpcResult, type Era, type RpcAnswer } from "./protocol.ts";
import { createAnswerRenderer, type AnswerRenderer } from "./render-answer.ts";
import type { RequestId } from "./request-id.ts";
import type { RpcMessage, SdkConnector, SdkPort } from "./sdk-port.ts";
import type { AppRuntime } from "./servable-app.ts";
import { SubscriptionSession } from "./subscriptions/subscription-session.ts";
import { ConnectionCaller } from "./with-client.ts";

/** What a gate stands between. */
export interface GateOptions {
  readonly runtime: AppRuntime;
  /** Writes one frame to the client. */
  readonly send: (json: string) => void;
  readonly connectSdk: SdkConnector;
  /** Who asks, and by which view. Default: somebody of whom nothing is known, by the default one. */
  readonly caller?: Caller;
  /** Default: this machine's. */
  readonly clock?: Clock;
  /** How long the output may stay full until nothing is watched for it any more, in milliseconds. Default 30,000. */
  readonly stallMs?: number;
}

const defaultStallMs = 30_000;

/** More than this many requests are not held behind the handshake. */
const maxHeld = 256;

const duplicateId = toRpcError(rpcCodes.invalidRequest, "Invalid request: a request with this id is still running");
const busy = toRpcError(rpcCodes.busy, "Server busy: too many requests are in flight");
const unknownMethod = toRpcError(rpcCodes.methodNotFound, "Method not found");
const empty = toRpcResult("");

/** What is left out while the output is full. */
const droppable: ReadonlySet<unknown> = new Set(["notifications/progress", loggedMethod]);

/** A request under way: a call of ours, or the SDK owes the answer: to a client that still probes, or to another. */
type Running = CallContext | "probe" | "sdk";

/**
 * Stands in front of the SDK on one connection: checks every frame, decides the era, answers from our own handlers what
 * they know and hands the rest on. Every request is answered once, or not at all after its client cancelled it.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #era = new EraState();
  readonly #caller: ConnectionCaller;
  readonly #clock: Clock;
  readonly #running = new Map<RequestId, Running>();
  /** Who asks what the SDK serves: it takes its time, and the next request may be somebody else's by then. */
  readonly #asking = new Map<RequestId, Caller>();
  readonly #calls = new CallQueue<RequestId>();
  /** Reads have places of their own: calls may wait for minutes, and a read must not wait behind them. */
  readonly #reads = new CallQueue<RequestId>();
  readonly #progress: ProgressOutput;
  readonly #log = new ClientLog();
  readonly #logOutput: LogOutput;
  readonly #render: AnswerRenderer;
  /** What the client is asked, in the legacy era. */
  readonly #asks: ConnectionAsks;
  readonly #subscriptions: SubscriptionSession;
  /** The methods that are answered here; none when the hot path is off. */
  readonly #methods: Methods;
  /**
   * Of the handshake that is told to the SDK when it joins a legacy connection late, whose answer goes nowhere. No client can
   * choose the same.
   */
  readonly #replayId = `replayed-handshake ${crypto.randomUUID()}`;
  /** Whether the legacy handshake was answered here, so that an SDK that joins later has not heard of it. */
  #isGreeted = false;
  /** What a hasty client sent behind its handshake, before the answer. */
  #held: RequestFrame[] = [];
  #sdk: SdkPort | undefined;
  #outputFull = false;
  #closed = false;

  constructor(options: GateOptions) {
    this.#options = options;
    const { runtime, send, clock = systemClock, stallMs = defaultStallMs, caller = anonymous } = options;
    this.#caller = new ConnectionCaller(caller);
    this.#clock = clock;
    this.#subscriptions = new SubscriptionSession({
      runtime,
      send,
      answer: (id, answer, era) => this.#answer(id, answer, era),
      clock,
      stallMs,
    });
    const isFull = (): boolean => this.#outputFull;
    this.#progress = { send, isFull };
    this.#logOutput = { send: (params) => send(renderLogged(params)), isFull };
    this.#render = createAnswerRenderer(runtime.info);
    this.#asks = new ConnectionAsks({ send, report: runtime.report });
    const setLevel: Handler = (params) => this.#log.setLevel(params);
    this.#methods = new Methods(runtime, runtime.logs ? { "logging/setLevel": setLevel } : {});
  }

  /** Says whether answers pile up unread: while they do, nothing is started or reported that would add to them. */
  setOutputFull(full: boolean): void {
    this.#outputFull = full;
    this.#calls.hold(full);
    this.#reads.hold(full);
    this.#subscriptions.setOutputFull(full);
    this.#asks.hold(full);
  }

  /** Takes one frame. Never throws. */
  receive(text: string): void {
    if (this.#closed) return;
    const frame = parseFrame(text, this.#options.runtime.limits);
    if (frame.kind === "request") this.#onRequest(frame);
    else if (frame.kind === "notification") this.#onNotification(frame);
    // The SDK asks nothing, so nobody there waits for what is none of ours.
    else if (frame.kind === "response") this.#asks.answer(frame);
    else if (frame.kind === "error") this.#answer(frame.id, { ...frame, kind: "error" }, "legacy");
  }

  /** Answers a frame that never became a text. */
  refuse(fault: FrameFault): void {
    const { id, code, message } = toFrameError(fault);
    if (!this.#closed) this.#answer(id, toRpcError(code, message), "legacy");
  }

  /**
   * Aborts everything that runs, ends every subscription and lets go of the SDK. Nothing is sent after it. Callable
   * twice.
   */
  async close(): Promise<void> {
    this.#subscriptions.close();
    this.#closed = true;
    this.#asks.close();
    this.#calls.clear();
    this.#reads.clear();
    this.#held = [];
    const calls = [...this.#running.values()];
    this.#running.clear();
    this.#asking.clear();
    for (const call of calls) {
      if (typeof call === "object") call.abort(new SurfaceError("CLOSED", "Calling: the server is closing"));
    }
    await this.#sdk?.close();
  }

  #onRequest(frame: RequestFrame): void {
    const { id, method } = frame;
    if (this.#running.has(id) || this.#subscriptions.has(id)) return this.#answer(id, duplicateId, "legacy");
    if (this.#era.initialising && method !== "initialize" && method !== "ping") return this.#hold(frame);
    if (method.startsWith("notifications/")) return this.#answer(id, unknownMethod, "legacy");
    const era = this.#era.admit(frame);
    if (typeof era !== "string") return this.#answer(id, era, "legacy");
    const caller = this.#caller.of(method, frame.params, era);
    const refusal = this.#options.runtime.refuse(caller);
    if (refusal === undefined) return this.#serve({ frame, era, caller });
    if (method === "initialize") this.#era.initialised(id, false);
    this.#answer(id, refusal, era);
  }

  #hold(frame: RequestFrame): void {
    if (this.#held.length >= maxHeld) this.#answer(frame.id, busy, "legacy");
    else this.#held.push(frame);
  }

  #serve(admitted: Admitted): void {
    const { frame, era, caller } = admitted;
    const { id, method, params } = frame;
    const token = progressTokenOf(params);
    if (typeof token === "object") return this.#answer(id, token, era);
    if (method === "initialize") this.#asks.greet(params);
    if (isNod(method, era)) return this.#answer(id, empty, era);
    if (this.#serveSubscription(admitted)) return;
    const handler = this.#methods.find(method, era);
    if (handler === undefined) return this.#forward(admitted);
    const steps = token === undefined ? undefined : new LastSteps(toProgressSink(token, this.#progress), this.#clock);
    const log = this.#options.runtime.logs ? this.#log.sinkFor(era, logLevelOf(params), this.#logOutput) : undefined;
    const asking = this.#asks.portOf(era);
    this.#run({ frame, handler, era, steps, call: new CallContext({ sink: steps?.sink, log, caller, asking }) });
  }

  #serveSubscription({ frame, era, caller }: Admitted): boolean {
    try {
      return this.#subscriptions.serve(frame, era, caller);
    } catch (cause) {
      this.#subscriptions.cancel(frame.id);
      this.#answer(frame.id, toInternalAnswer(cause, frame.method, this.#options.runtime.report), era);
      return true;
    }
  }

  #run(start: HotRun): void {
    const { id, method } = start.frame;
    const turn = this.#methods.turnOf(method);
    const queue = turn === "none" ? undefined : turn === "calls" ? this.#calls : this.#reads;
    // Refused and not left unread: behind it there may be a cancellation, a ping or the end of the input.
    if (queue?.full) return this.#answer(id, busy, start.era);
    this.#running.set(id, start.call);
    if (queue === undefined) return void this.#settle(start);
    // Of one that was cancelled or too late the place is free when its work has ended, and not when its client was told.
    const done = (): void => start.call.whenIdle(() => queue.done());
    queue.add(id, () => void this.#settle(start).finally(done));
  }

  async #settle({ frame, handler, era, call, steps }: HotRun): Promise<void> {
    const { method, params } = frame;
    const { report } = this.#options.runtime;
    const request = { era, call, version: this.#asks.version };
    const answering = answerAsked({ method, handler, params, request, report });
    // Not awaited where there is nothing to wait for: the handshake is over before what is behind it is read.
    const answer = answering instanceof Promise ? await answering : answering;
    const apart = steps?.apart;
    if (apart !== undefined) await apart;
    if (this.#running.get(frame.id) !== call) return;
    this.#running.delete(frame.id);
    if (frame.method === "initialize") this.#onInitialised(frame.id, answer);
    this.#answer(frame.id, answer, era);
  }

  #onInitialised(id: RequestId, answer: RpcAnswer): void {
    this.#era.initialised(id, answer.kind === "result");
    if (answer.kind !== "result") return;
    this.#isGreeted = true;
    // A second handshake, after a client cancelled its first: an SDK that has joined must not stay with that one.
    if (this.#sdk !== undefined) this.#replayHandshake(this.#sdk);
  }

  #onNotification(frame: NotificationFrame): void {
    const { method, params } = frame;
    // A request without an id is owed no answer, and what cannot be answered must not run.
    if (!method.startsWith("notifications/")) return;
    const isHeard = method === "notifications/cancelled" ? this.#cancel(params) : this.#era.isLegacy;
    if (!isHeard) return;
    this.#asks.notified(method);
    if (method === "notifications/initialized") this.#subscriptions.initialised(this.#caller.current);
    this.#sdk?.deliver(params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params });
  }

  /** Cancels a request. Says whether the SDK has to hear of it. */
  #cancel(params: JsonObject | undefined): boolean {
    const id = params?.["requestId"];
    if (this.#era.cancelInitialize(id)) return false;
    this.#held = this.#held.filter((frame) => frame.id !== id);
    // Only ids that isRequestId() let in are in the maps.
    const known = id as RequestId;
    this.#subscriptions.cancel(known);
    const call = this.#running.get(known);
    if (call === undefined) return false;
    this.#running.delete(known);
    this.#asking.delete(known);
    // A probe pins the SDK to no era yet: it would take a bare notification for a legacy client's, and turn legacy.
    if (typeof call === "string") return call === "sdk";
    if (!this.#calls.withdraw(known) && !this.#reads.withdraw(known)) call.cancel();
    return false;
  }

  #forward({ frame: { id, method, params }, caller }: Admitted): void {
    this.#asking.set(id, caller);
    this.#running.set(id, method === "server/discover" ? "probe" : "sdk");
    this.#sdk ??= this.#connectSdk();
    this.#sdk.deliver(params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params });
  }

  /** Connects the SDK, and brings it to where the connection is. */
  #connectSdk(): SdkPort {
    const sdk = this.#options.connectSdk(this.#options.runtime, {
      send: (message) => this.#fromSdk(message),
      caller: (id) => (id === undefined ? undefined : this.#asking.get(id)) ?? this.#caller.current,
      askPort: (era) => this.#asks.portOf(era),
    });
    this.#replayHandshake(sdk);
    return sdk;
  }

  #replayHandshake(sdk: SdkPort): void {
    const { handshake } = this.#asks;
    if (!this.#isGreeted || handshake === undefined) return;
    sdk.deliver({ jsonrpc: "2.0", id: this.#replayId, method: "initialize", params: handshake });
    sdk.deliver({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  #fromSdk(message: RpcMessage): void {
    if (this.#closed) return;
    if ("method" in message || !("id" in message)) return this.#notify(message);
    // It answers with the ids that were handed to it.
    const id = message["id"] as RequestId;
    this.#asking.delete(id);
    // An answer that nobody waits for any more was cancelled.
    if (!this.#running.delete(id)) return;
    this.#era.initialised(id, "result" in message);
    this.#options.send(JSON.stringify(message));
    if (!this.#era.initialising) for (const frame of this.#held.splice(0)) this.#onRequest(frame);
  }

  #notify(message: RpcMessage): void {
    if (this.#outputFull && droppable.has(message["method"])) return;
    this.#options.send(JSON.stringify(message));
  }

  #answer(id: RequestId | null, answer: RpcAnswer, era: Era): void {
    this.#options.send(this.#render(id, answer, era));
  }
}
