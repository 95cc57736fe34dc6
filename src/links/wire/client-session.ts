import { setImmediate } from "node:timers";
import { SurfaceError, type Refusal } from "../../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import type { Clock } from "../../spine/clock.ts";
import { createAbortedError, followAbort, type Cancellation } from "../../spine/signals.ts";
import type { Operation, RequestVerb, SubscribeVerb } from "../../surface/channel.ts";
import type { Surface } from "../../surface/define-surface.ts";
import type { Spec } from "../../surface/member.ts";
import { ConnectionEnd, type CloseReason } from "../link.ts";
import type { WireTransport } from "../transport/base-transport.ts";
import { PeerContract } from "./contract.ts";
import { toMemberCodec, toPartCodec, type MemberCodec, type PartCodec } from "./member-codec.ts";
import { goodbyeMs, methods, notTaken, readErrorResponse, noSuchMethod, type WireError } from "./protocol.ts";
import { Heartbeat, WirePeer, type IncomingRequest, type OutgoingRequest, type PeerHandlers } from "./wire-peer.ts";

/** Most answers that may wait for a far side that takes none: it needs one, to a ping. */
const maxOwed = 16;

/** A receiver of items or progress. */
export interface Listener {
  /** Takes a message; returns `false` if its sender was not allowed to send it. */
  take(message: JsonObject): boolean;
}

/** A request that is ready to be sent. */
export interface RequestFields {
  readonly method: string;
  readonly params: JsonObject;
  /** Names the request in errors. */
  readonly what: string;
  /** Cancels the request. */
  readonly by: Cancellation;
}

/** A request of this side. Its answer, the signal of its caller or the end of the connection settles it. */
export abstract class SentRequest implements OutgoingRequest {
  id = -1;
  #peer: WirePeer | undefined;
  #leave: (() => void) | undefined;
  #isSettled = false;

  /** Receives the outcome, once. Must not throw. */
  protected abstract settled(outcome: unknown): void;

  /** Sends it. Settles it at once if its caller has cancelled it or the connection has ended. */
  sendOver(peer: WirePeer, { method, params, what, by }: RequestFields): void {
    this.#leave = followAbort(by, (reason) => this.cancel(createAbortedError({ reason }, `Cannot use ${what}`)));
    if (this.#isSettled) return;
    this.#peer = peer;
    peer.request(this, method, params);
  }

  /** Ends it on both sides. Does nothing once it has settled. */
  cancel(cause: SurfaceError): void {
    if (this.#isSettled) return;
    this.#peer?.cancel(this);
    this.settle(cause);
  }

  settle(outcome: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#leave?.();
    this.settled(outcome);
  }
}

/** An operation that is ready to be sent. */
export interface Prepared {
  /** Its name in errors. */
  readonly what: string;
  readonly codec: MemberCodec;
  readonly answer: PartCodec;
  /** A new object, for its sender to add to. */
  readonly params: JsonObject;
}

/** Codes of calls that a closing application cuts off: the outcome of a call that changes something is unknown. */
const cutCodes: ReadonlySet<string> = new Set(["CLOSED", "OUTCOME_UNKNOWN"]);

function readDetails(errors: MemberCodec["schemas"]["errors"], code: string, details: JsonValue): unknown {
  const schema = errors[code];
  if (schema === undefined) return details;
  try {
    return toPartCodec(schema).receive({ value: details });
  } catch {
    // Withheld, as owners withhold invalid details.
    return undefined;
  }
}

/** Dependencies of a {@link ClientSession}. */
interface SessionDeps {
  readonly transport: WireTransport;
  readonly clock: Clock;
  readonly surface: Surface<Spec>;
}

/** The client's end of a connection to a surface: its requests, its listeners and its end. */
export class ClientSession implements PeerHandlers {
  readonly #deps: SessionDeps;
  readonly #peer: WirePeer;
  readonly contract: PeerContract;
  /** The name of the surface in errors. */
  readonly what: string;
  readonly #listeners = new Map<number, Listener>();
  /** Credit that was granted and not sent yet. */
  readonly #credits: { readonly stream: number; readonly credit: number }[] = [];
  #lastId = 0;
  /** Requests that came since the output last had room. */
  #owed = 0;
  #heartbeat: Heartbeat | undefined;
  #stopGrace: (() => void) | undefined;
  #isClosed = false;
  /** All requests have settled before `closed` resolves. */
  readonly ending: ConnectionEnd = new ConnectionEnd();

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.contract = new PeerContract(deps.surface);
    this.what = `surface "${deps.surface.name}"`;
    this.#peer = new WirePeer(deps.transport, this);
    this.#peer.listen();
  }

  /** Returns whether the far side has said goodbye, and the connection has not ended. */
  get isLeaving(): boolean {
    return this.ending.state().kind === "leaving";
  }

  /** Returns whether this side has closed it. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The reason of the end, if the connection has ended. */
  get reason(): CloseReason | undefined {
    const state = this.ending.state();
    return state.kind === "ended" ? state.reason : undefined;
  }

  /** Starts the heartbeat. */
  watch(everyMs: number): void {
    if (this.reason !== undefined) return;
    const { clock } = this.#deps;
    const peer = this.#peer;
    const silence = new SurfaceError("TIMEOUT", `Cannot use ${this.what}: it was silent for three times ${everyMs} ms`);
    this.#heartbeat = new Heartbeat({ clock, everyMs, peer, lost: () => peer.ended(silence) });
  }

  /** Returns the error of new requests, if nothing can be sent. */
  refusal(): SurfaceError | undefined {
    const { what } = this;
    if (this.#isClosed) return new SurfaceError("CLOSED", `Cannot use ${what}: the connection is closed`);
    if (this.#peer.isOpen && !this.isLeaving) return undefined;
    return new SurfaceError("UNAVAILABLE", `Cannot use ${what}: the connection has ended`);
  }

  /** Returns the error of a request that the far side did not read, because it had said goodbye. */
  refusalOf(error: WireError, what: string): SurfaceError | undefined {
    // Believed only after a goodbye: any other far side has read the request.
    if (error.code !== notTaken.code || !this.isLeaving) return undefined;
    return new SurfaceError("UNAVAILABLE", `Cannot use ${what}: the application was closing`);
  }

  /** Prepares an operation. @throws SurfaceError if it cannot be sent. */
  prepare({ verb, member: key, argument }: Operation<RequestVerb | SubscribeVerb>): Prepared {
    const what = `"${key}" of ${this.what}`;
    const refusal = this.refusal();
    if (refusal !== undefined) throw refusal;
    const member = this.contract.member(key, what);
    const codec = toMemberCodec(member, key);
    const answer = codec.answer(verb);
    if (answer === undefined) {
      throw new SurfaceError("WRONG_KIND", `Cannot use ${what}: a ${member.kind} has no "${verb}"`);
    }
    const json = codec.encodeArgument(verb, argument);
    const params: JsonObject = { verb, member: key };
    if (json !== undefined) params["argument"] = json;
    return { what, codec, answer, params };
  }

  /** Returns the error of this side for an error of the far side. */
  toCause(error: WireError, { what, codec }: Prepared): SurfaceError | Refusal {
    const refusal = this.refusalOf(error, what);
    if (refusal !== undefined) return refusal;
    const { errors } = codec.schemas;
    const cause = readErrorResponse(error, what, (code, details) => readDetails(errors, code, details));
    // The call was running when the application closed: it fails as the calls that the end of the connection cuts off.
    if (cause instanceof SurfaceError && cutCodes.has(cause.code) && this.isLeaving) {
      return new SurfaceError("DISCONNECTED", `Cannot use ${what}: the application closed before the answer`);
    }
    return cause;
  }

  /** Sends a request, or loses it at once if the connection has ended meanwhile. */
  send(request: SentRequest, fields: RequestFields): void {
    // First, so that the far side serves its streams before it answers.
    this.#sendCredits();
    request.sendOver(this.#peer, fields);
  }

  /**
   * Grants credit to a stream, after the values of this turn were passed on, also by code that writes at the end of a turn. Credit
   * wakes the far side; granted at once it took a tenth of the time of a change.
   */
  grant(stream: number, credit: number): void {
    this.#credits.push({ stream, credit });
    // By the queue of ticks, which is cheaper: an output that was written to in this turn flushes first.
    if (this.#credits.length === 1) process.nextTick(this.#laterCredits);
  }

  readonly #laterCredits = (): void => {
    setImmediate(() => setImmediate(() => this.#sendCredits()));
  };

  /** Registers a listener; returns the number that messages are sent to. */
  listen(listener: Listener): number {
    this.#lastId += 1;
    this.#listeners.set(this.#lastId, listener);
    return this.#lastId;
  }

  /** Removes a listener. Callable twice. */
  unlisten(id: number | undefined): void {
    if (id !== undefined) this.#listeners.delete(id);
  }

  /** Ends the connection, with a cause if the far side broke the protocol. Callable twice. */
  close(cause?: SurfaceError): void {
    if (this.reason !== undefined) return;
    this.#isClosed = cause === undefined;
    this.#peer.notify(methods.goodbye, {});
    this.#peer.ended(cause);
  }

  request(request: IncomingRequest): void {
    // A client reads on while its output is full, so nothing else bounds the answers.
    this.#owed = this.#peer.isFull ? this.#owed + 1 : 0;
    if (this.#owed > maxOwed) return this.#breach("it sent many requests, and read no answer");
    // A client serves nothing else.
    request.reply(request.method === methods.ping ? null : noSuchMethod);
  }

  notification(method: string, params: unknown): void {
    if (method === methods.goodbye) return this.#onGoodbye();
    if (!isJsonObject(params)) return;
    const id = method === methods.item ? params["stream"] : method === methods.progress ? params["token"] : undefined;
    // Messages for unknown numbers are late: their request has settled.
    const listener = typeof id === "number" ? this.#listeners.get(id) : undefined;
    if (listener === undefined || listener.take(params)) return;
    this.#breach("it sent more items than its credit allows");
  }

  drained(): void {
    // A client queues nothing.
  }

  ended(cause: unknown, requests: readonly OutgoingRequest[]): void {
    const kind = this.#isClosed ? "closed" : this.isLeaving ? "gone" : "lost";
    this.#heartbeat?.stop();
    this.#stopGrace?.();
    const message = `Cannot use ${this.what}: the connection was lost before the answer`;
    const lost = new SurfaceError("DISCONNECTED", message, { cause });
    this.ending.end(cause === undefined ? { kind } : { kind, cause }, () => {
      for (const request of requests) request.settle(lost);
    });
    this.#listeners.clear();
  }

  #sendCredits(): void {
    for (const credit of this.#credits.splice(0)) this.#peer.notify(methods.credit, credit);
  }

  #breach(why: string): void {
    this.close(new SurfaceError("PROTOCOL_MISMATCH", `Cannot use ${this.what}: ${why}`));
  }

  #onGoodbye(): void {
    if (this.ending.state().kind !== "open") return;
    this.ending.leave();
    // In return, so that the far side knows that no more requests come.
    this.#peer.notify(methods.goodbye, {});
    this.#stopGrace = this.#deps.clock.after(goodbyeMs, () => this.#peer.ended(undefined));
  }
}
