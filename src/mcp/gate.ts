import { CallContext } from "../call/call-context.ts";
import { anonymous, type Caller } from "../surface/caller.ts";
import { SurfaceError } from "../errors.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { JsonObject } from "../schema/json.ts";
import type { Clock } from "../spine/clock.ts";
import type { Admitted, HotRun } from "./admitted.ts";
import { ConnectionAsks } from "./asking/connection-asks.ts";
import { CallQueue } from "./call-queue.ts";
import { ClientLog, renderLogged, type LogOutput } from "./client-log.ts";
import { logLevelOf, progressTokenOf } from "./envelope.ts";
import { EraState } from "./era-state.ts";
import { toFrameError, type FrameFault } from "./frame-error.ts";
import { LastSteps } from "./last-steps.ts";
import { methodsOf, runMethod, toInternalAnswer, type Methods } from "./methods.ts";
import { parseFrame, type NotificationFrame, type RequestFrame } from "./parse-frame.ts";
import { toProgressSink, type ProgressOutput } from "./progress-sink.ts";
import { toRpcError, type Era, type RpcAnswer } from "./protocol.ts";
import { busy, duplicateId, unknownMethod } from "./refusals.ts";
import { createAnswerRenderer, type AnswerRenderer } from "./render-answer.ts";
import type { RequestId } from "./request-id.ts";
import type { AppRuntime } from "./servable-app.ts";
import { SubscriptionSession } from "./subscriptions/subscription-session.ts";
import { ConnectionCaller } from "./with-client.ts";

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

/**
 * Serves one connection: checks every frame, decides the era and answers each request from the handlers. Every request gets
 * one answer, or none after its client cancelled it.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #era = new EraState();
  readonly #caller: ConnectionCaller;
  readonly #clock: Clock;
  readonly #running = new Map<RequestId, CallContext>();
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
  readonly #methods: Methods;
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
    this.#methods = methodsOf(runtime);
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
    else if (frame.kind === "response") this.#asks.answer(frame);
    else if (frame.kind === "error") this.#answer(frame.id, { ...frame, kind: "error" }, "legacy");
  }

  /** Answers a frame that never became a text. */
  refuse(fault: FrameFault): void {
    const { id, code, message } = toFrameError(fault);
    if (!this.#closed) this.#answer(id, toRpcError(code, message), "legacy");
  }

  /** Aborts every running call and ends every subscription. Sends nothing afterwards. Callable twice. */
  close(): void {
    this.#subscriptions.close();
    this.#closed = true;
    this.#asks.close();
    this.#calls.clear();
    this.#reads.clear();
    const calls = [...this.#running.values()];
    this.#running.clear();
    for (const call of calls) call.abort(new SurfaceError("CLOSED", "Calling: the server is closing"));
  }

  #onRequest(frame: RequestFrame): void {
    const { id, method } = frame;
    if (this.#running.has(id) || this.#subscriptions.has(id)) return this.#answer(id, duplicateId, "legacy");
    if (method.startsWith("notifications/")) return this.#answer(id, unknownMethod, "legacy");
    const era = this.#era.admit(frame);
    if (typeof era !== "string") return this.#answer(id, era, "legacy");
    const caller = this.#caller.of(method, frame.params, era);
    const refusal = this.#options.runtime.refuse(caller);
    if (refusal === undefined) this.#serve({ frame, era, caller });
    else this.#answer(id, refusal, era);
  }

  #serve(admitted: Admitted): void {
    const { frame, era, caller } = admitted;
    const { id, method, params } = frame;
    const token = progressTokenOf(params);
    if (typeof token === "object") return this.#answer(id, token, era);
    if (method === "initialize" && era === "legacy") this.#asks.greet(params);
    const served = this.#methods[era].get(method);
    if (served === undefined) return this.#serveSubscription(admitted);
    const steps = token === undefined ? undefined : new LastSteps(toProgressSink(token, this.#progress), this.#clock);
    const log = this.#options.runtime.logs ? this.#log.sinkFor(era, logLevelOf(params), this.#logOutput) : undefined;
    const asking = this.#asks.portOf(era);
    this.#run({ frame, method: served, era, steps, call: new CallContext({ sink: steps?.sink, log, caller, asking }) });
  }

  #serveSubscription({ frame, era, caller }: Admitted): void {
    try {
      if (!this.#subscriptions.serve(frame, era, caller)) this.#answer(frame.id, unknownMethod, era);
    } catch (cause) {
      this.#subscriptions.cancel(frame.id);
      this.#answer(frame.id, toInternalAnswer(cause, frame.method, this.#options.runtime.report), era);
    }
  }

  #run(start: HotRun): void {
    const { id } = start.frame;
    const { turn } = start.method;
    const queue = turn === "none" ? undefined : turn === "calls" ? this.#calls : this.#reads;
    // Refused and not left unread: behind it there may be a cancellation, a ping or the end of the input.
    if (queue?.full) return this.#answer(id, busy, start.era);
    this.#running.set(id, start.call);
    if (queue === undefined) return void this.#settle(start);
    // Of one that was cancelled or too late the place is free when its work has ended, and not when its client was told.
    const done = (): void => start.call.whenIdle(() => queue.done());
    queue.add(id, () => void this.#settle(start).finally(done));
  }

  async #settle({ frame, method, era, call, steps }: HotRun): Promise<void> {
    const { method: name, params } = frame;
    const { report } = this.#options.runtime;
    const request = { era, call, version: this.#asks.version, log: this.#log };
    const answering = runMethod({ name, method, params, request, report });
    // Awaited only if it is a promise: the handshake is over before the next frame is read.
    const answer = answering instanceof Promise ? await answering : answering;
    const apart = steps?.apart;
    if (apart !== undefined) await apart;
    if (this.#running.get(frame.id) !== call) return;
    this.#running.delete(frame.id);
    if (name === "initialize" && answer.kind === "result") this.#era.initialised(frame.id);
    this.#answer(frame.id, answer, era);
  }

  #onNotification({ method, params }: NotificationFrame): void {
    if (method === "notifications/cancelled") return this.#cancel(params);
    if (!this.#era.isLegacy) return;
    this.#asks.notified(method);
    if (method === "notifications/initialized") this.#subscriptions.initialised(this.#caller.current);
  }

  #cancel(params: JsonObject | undefined): void {
    const id = params?.["requestId"];
    if (this.#era.cancelInitialize(id)) return;
    // Only ids that isRequestId() let in are in the maps.
    const known = id as RequestId;
    this.#subscriptions.cancel(known);
    const call = this.#running.get(known);
    if (call === undefined) return;
    this.#running.delete(known);
    if (!this.#calls.withdraw(known) && !this.#reads.withdraw(known)) call.cancel();
  }

  #answer(id: RequestId | null, answer: RpcAnswer, era: Era): void {
    this.#options.send(this.#render(id, answer, era));
  }
}
