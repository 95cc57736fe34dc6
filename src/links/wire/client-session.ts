import { setImmediate } from "node:timers";
import { SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Clock } from "../../spine/clock.ts";
import { Ending, type CloseReason } from "../link.ts";
import { Heartbeat } from "./heartbeat.ts";
import { errorCodes, goodbyeMs, methods, RpcError } from "./protocol.ts";
import type { SentRequest } from "./sent-request.ts";
import type { WireTransport } from "../transport/base-transport.ts";
import { WirePeer, type IncomingRequest, type OutgoingRequest, type PeerHandlers } from "./wire-peer.ts";

/** Most answers that may wait for a far side that takes none: it needs one, to a ping. */
const maxOwed = 16;

/** A receiver of items or progress. */
export interface Listener {
  /** Takes a message; returns `false` if its sender was not allowed to send it. */
  take(message: JsonObject): boolean;
}

/** Dependencies of a {@link ClientSession}. */
interface SessionDeps {
  readonly transport: WireTransport;
  readonly clock: Clock;
  /** Names the far side in errors. */
  readonly what: string;
}

/** The client's end of a connection: its requests, its listeners and its end. It knows nothing of members. */
export class ClientSession implements PeerHandlers {
  readonly #setting: SessionDeps;
  readonly #peer: WirePeer;
  readonly #listeners = new Map<number, Listener>();
  /** Credit that was granted and not sent yet. */
  readonly #credits: { readonly stream: number; readonly credit: number }[] = [];
  #lastId = 0;
  /** Requests that came since the output last had room. */
  #owed = 0;
  #heartbeat: Heartbeat | undefined;
  #stopGrace: (() => void) | undefined;
  #isLeaving = false;
  #isClosed = false;
  /** All requests have settled before `closed` resolves. */
  readonly ending: Ending = new Ending();

  constructor(setting: SessionDeps) {
    this.#setting = setting;
    this.#peer = new WirePeer(setting.transport, this);
    this.#peer.listen();
  }

  /** Whether the far side has said goodbye. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Whether this side has closed it. */
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
    const { clock, what } = this.#setting;
    const silence = new SurfaceError("TIMEOUT", `Using ${what}: nothing was heard of it for three times ${everyMs} ms`);
    if (this.reason !== undefined) return;
    const peer = this.#peer;
    this.#heartbeat = new Heartbeat({ clock, everyMs, peer, lost: () => peer.ended(silence) });
  }

  /** Returns the error of new requests, if nothing can be sent. */
  refusal(): SurfaceError | undefined {
    const { what } = this.#setting;
    if (this.#isClosed) return new SurfaceError("CLOSED", `Using ${what}: the connection is closed`);
    if (this.#peer.isOpen && !this.#isLeaving) return undefined;
    return new SurfaceError("UNAVAILABLE", `Using ${what}: the connection has ended`);
  }

  /** Returns the error of a request that the far side did not read, because it had said goodbye. */
  refusalOf(error: RpcError, what: string): SurfaceError | undefined {
    // Believed only after a goodbye: any other far side has read the request.
    if (error.code !== errorCodes.notTaken || !this.#isLeaving) return undefined;
    return new SurfaceError("UNAVAILABLE", `Using ${what}: the application was closing`);
  }

  /** Sends a request, or loses it at once if the connection has ended meanwhile. */
  send(request: SentRequest): void {
    // First, so that the far side serves its streams before it answers.
    this.#sendCredits();
    request.sendOver(this.#peer);
  }

  /**
   * Grants credit to a stream, after the values of this turn were passed on, also by code that writes at the end of a turn. Credit
   * wakes the far side; granted at once it took a tenth of the time of a change.
   */
  grant(stream: number, credit: number): void {
    this.#credits.push({ stream, credit });
    if (this.#credits.length === 1) setImmediate(() => setImmediate(() => this.#sendCredits()));
  }

  /** Sends a notification, if the connection is open. */
  notify(method: string, params: JsonObject): void {
    this.#peer.notify(method, params);
  }

  /** Registers a listener; returns the number that messages are sent to. */
  listen(listener: Listener): number {
    this.#lastId += 1;
    this.#listeners.set(this.#lastId, listener);
    return this.#lastId;
  }

  /** Removes a listener. Callable twice. */
  unlisten(id: number): void {
    this.#listeners.delete(id);
  }

  /** Ends the connection, with a cause if the far side broke the protocol. Callable twice. */
  close(cause?: SurfaceError): void {
    if (this.reason !== undefined) return;
    this.#isClosed = cause === undefined;
    this.notify(methods.goodbye, {});
    this.#peer.ended(cause);
  }

  request(request: IncomingRequest): void {
    // A client reads on while its output is full, so nothing else bounds the answers.
    this.#owed = this.#peer.isFull ? this.#owed + 1 : 0;
    if (this.#owed > maxOwed) return this.#breach("it asked again and again, and took no answer");
    const isPing = request.method === methods.ping;
    request.reply(isPing ? null : new RpcError(errorCodes.methodNotFound, "a client serves nothing"));
  }

  notification(method: string, params: unknown): void {
    if (method === methods.goodbye) return this.#onGoodbye();
    if (!isJsonObject(params)) return;
    const id = method === methods.item ? params["stream"] : method === methods.progress ? params["token"] : undefined;
    // Messages for unknown numbers are late: their request has settled.
    const listener = typeof id === "number" ? this.#listeners.get(id) : undefined;
    if (listener === undefined || listener.take(params)) return;
    this.#breach("it sent more than it may");
  }

  drained(): void {
    // A client queues nothing.
  }

  ended(cause: unknown, requests: readonly OutgoingRequest[]): void {
    const kind = this.#isClosed ? "closed" : this.#isLeaving ? "gone" : "lost";
    this.#heartbeat?.stop();
    this.#stopGrace?.();
    const { what } = this.#setting;
    const lost = new SurfaceError("DISCONNECTED", `Using ${what}: the connection was lost before the answer`, {
      cause,
    });
    this.ending.end(cause === undefined ? { kind } : { kind, cause }, () => {
      for (const request of requests) request.lose(lost);
    });
    this.#listeners.clear();
  }

  #sendCredits(): void {
    for (const credit of this.#credits.splice(0)) this.notify(methods.credit, credit);
  }

  #breach(why: string): void {
    this.close(new SurfaceError("PROTOCOL_MISMATCH", `Using ${this.#setting.what}: ${why}`));
  }

  #onGoodbye(): void {
    if (this.#isLeaving || this.reason !== undefined) return;
    this.#isLeaving = true;
    // In return, so that the far side knows that no more requests come.
    this.notify(methods.goodbye, {});
    this.#stopGrace = this.#setting.clock.after(goodbyeMs, () => this.#peer.ended(undefined));
    this.ending.leave();
  }
}
