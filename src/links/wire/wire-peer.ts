import { SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Clock } from "../../spine/clock.ts";
import { SlotMap } from "../../spine/collections.ts";
import type { PeerShares } from "../link-options.ts";
import type { TransportListener, WireTransport } from "../transport/base-transport.ts";
import { methods, toErrorResponse, createRejection, WireError } from "./protocol.ts";

/** Callbacks of a {@link WirePeer}. None of them may throw. */
export interface PeerHandlers {
  /** Answers a request by its `reply()`, now or later. */
  request(request: IncomingRequest): void;
  notification(method: string, params: unknown): void;
  /** The far side has taken everything that was written. */
  drained(): void;
  /** The connection is over; called once. Settles the lost requests before it returns. */
  ended(cause: unknown, lost: readonly OutgoingRequest[]): void;
}

/** A request to the far side. */
export interface OutgoingRequest {
  /** Assigned by the peer that sends it. */
  id: number;
  /**
   * Receives the outcome, once: the result, the {@link WireError} of the far side, or a SurfaceError if no answer comes, also if it was
   * not sent. Must not throw.
   */
  settle(outcome: unknown): void;
}

/** An unanswered request of the far side. Creates its signal on first access. */
export class IncomingRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: unknown;
  /** Characters of its message. */
  readonly size: number;
  readonly #peer: WirePeer;
  #controller: AbortController | undefined;
  #isAborted = false;

  constructor(peer: WirePeer, message: Pick<IncomingRequest, "id" | "method" | "params" | "size">) {
    this.#peer = peer;
    this.id = message.id;
    this.method = message.method;
    this.params = message.params;
    this.size = message.size;
  }

  /** Fires when the far side cancels the request or disconnects. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Fires the signal. Callable twice. */
  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }

  /** Answers the request with a result, or with a `WireError`. The first answer counts. */
  reply(outcome: unknown): void {
    this.#peer.reply(this, outcome);
  }
}

const maxIdLength = 128;

function isId(id: unknown): id is string | number {
  return typeof id === "string" ? id.length <= maxIdLength : Number.isSafeInteger(id);
}

/** Returns whether a message was too large to be written. Its connection stays open. */
function isTooLarge(cause: unknown): cause is SurfaceError {
  return cause instanceof SurfaceError && cause.code === "FRAME_TOO_LARGE";
}

/** Creates the error of a request of which nothing was sent. */
function createUnsent(): SurfaceError {
  return new SurfaceError("UNAVAILABLE", "Cannot send a request: the connection has ended");
}

/**
 * One end of a connection: JSON-RPC 2.0 over a transport, without batches. It validates every message of the far side, and a
 * malformed one ends the connection. Messages of one chunk are handled in one turn. No method throws, except `notify()`.
 *
 * A number and its text are one id. Requests whose id is in use, and answers without a request, are dropped.
 */
export class WirePeer implements TransportListener {
  readonly #transport: WireTransport;
  readonly #handlers: PeerHandlers;
  /** A server's account of its peer. While the peer does not read what was written, nothing is read from it. */
  readonly #shares: PeerShares | undefined;
  readonly #incoming = new SlotMap<string, IncomingRequest>();
  readonly #outgoing = new SlotMap<string, OutgoingRequest>();
  #isProbing = false;
  #lastId = -1;
  #wasHeard = false;
  #received = 0;
  #backlog = 0;
  #isOver = false;

  /** @param shares - of a server, which does not trust its peer. */
  constructor(transport: WireTransport, handlers: PeerHandlers, shares?: PeerShares) {
    this.#transport = transport;
    this.#handlers = handlers;
    this.#shares = shares;
  }

  /** Returns whether the connection has not ended. */
  get isOpen(): boolean {
    return !this.#isOver;
  }

  /** Returns whether more was written than the far side has taken. */
  get isFull(): boolean {
    return this.#transport.isFull;
  }

  /** Starts to read. */
  listen(): void {
    this.#transport.listen(this);
  }

  /** Reads large messages from now on. */
  trust(): void {
    this.#transport.trust();
  }

  /** Returns whether a message came, or was taken, since the last call. */
  takeHeard(): boolean {
    const wasHeard = this.#wasHeard;
    this.#wasHeard = false;
    return wasHeard;
  }

  /** Returns whether bytes came, or were taken, since the last call. */
  takeMoved(): boolean {
    const { received, backlog } = this.#transport;
    const hasMoved = received > this.#received || backlog < this.#backlog;
    this.#received = received;
    this.#backlog = backlog;
    return hasMoved;
  }

  /** Notifies the far side of this side, unless the notification would wait behind unread output. */
  tell(): void {
    if (!this.isFull) this.notify(methods.ping, {});
  }

  /** Sends a request, or loses it at once. */
  request(request: OutgoingRequest, method: string, params: JsonObject): void {
    if (this.#isOver) return request.settle(createUnsent());
    this.#lastId += 1;
    const id = this.#lastId;
    request.id = id;
    this.#outgoing.add(String(id), request);
    try {
      this.#write({ jsonrpc: "2.0", id, method, params });
    } catch (cause) {
      this.#outgoing.take(String(id));
      request.settle(isTooLarge(cause) ? cause : createUnsent());
      if (!isTooLarge(cause)) this.ended(cause);
    }
  }

  /** Asks for a sign of life, unless an earlier ping is unanswered. */
  ask(): void {
    if (this.#isOver || this.#isProbing) return;
    this.#isProbing = true;
    this.request({ id: -1, settle: () => (this.#isProbing = false) }, methods.ping, {});
  }

  /** Cancels a request that was sent: its answer is dropped. */
  cancel(request: OutgoingRequest): void {
    const { id } = request;
    if (this.#outgoing.take(String(id)) !== undefined) this.notify("$/cancelRequest", { id });
  }

  /**
   * Sends a notification, if the connection is open.
   *
   * @throws SurfaceError `FRAME_TOO_LARGE`, and nothing else.
   */
  notify(method: string, params: JsonObject): void {
    if (this.#isOver) return;
    try {
      this.#write({ jsonrpc: "2.0", method, params });
    } catch (cause) {
      if (isTooLarge(cause)) throw cause;
      this.ended(cause);
    }
  }

  /** Answers a request with a result or a `WireError`. Replaces a result that is too large by an error. */
  reply(request: IncomingRequest, outcome: unknown): void {
    if (this.#incoming.take(String(request.id)) === undefined || this.#isOver) return;
    this.#shares?.answered(request.size);
    this.#answer(request.id, outcome);
  }

  message(message: JsonObject): void {
    this.#wasHeard = true;
    if (this.#isOver) return;
    const problem = this.#take(message);
    if (problem === undefined) return;
    this.ended(new SurfaceError("PROTOCOL_MISMATCH", `Cannot read a message: it is ${problem}`));
  }

  drained(): void {
    this.#wasHeard = true;
    if (this.#isOver) return;
    this.#shares?.weigh(this.#transport.backlog);
    this.#transport.resume();
    this.#handlers.drained();
  }

  /** Ends the connection now. Written messages are still sent. Callable twice. */
  ended(cause: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#shares?.close();
    this.#handlers.ended(cause, this.#outgoing.list());
    for (const request of this.#incoming.list()) request.abort();
    this.#transport.close();
  }

  /** Handles a message. Returns the problem of a malformed one. */
  #take(message: JsonObject): string | undefined {
    // Transports refuse other values too; the peer does not depend on that.
    if (!isJsonObject(message) || message["jsonrpc"] !== "2.0") return "a message that is not JSON-RPC 2.0";
    if (!Object.hasOwn(message, "method")) return this.#takeResponse(message);
    const { method } = message;
    if (typeof method !== "string") return "a method that is not a text";
    if (Object.hasOwn(message, "result") || Object.hasOwn(message, "error")) return "a request and a response at once";
    if (!Object.hasOwn(message, "id")) return this.#takeNotification(method, message["params"]);
    const { id } = message;
    if (!isId(id)) return "an id that is neither a short text nor an integer";
    const { size } = this.#transport;
    return this.#takeRequest(new IncomingRequest(this, { id, method, params: message["params"], size }));
  }

  #takeRequest(request: IncomingRequest): undefined {
    const key = String(request.id);
    if (this.#incoming.has(key)) return;
    if (this.#shares?.admit(request.size) === false) return this.#answer(request.id, createRejection("OVERFLOW"));
    this.#incoming.add(key, request);
    this.#handlers.request(request);
  }

  #takeNotification(method: string, params: unknown): undefined {
    if (method === "$/cancelRequest") {
      const id = isJsonObject(params) ? params["id"] : undefined;
      if (isId(id)) this.#incoming.get(String(id))?.abort();
    } else if (!method.startsWith("$/")) {
      this.#handlers.notification(method, params);
    }
  }

  #takeResponse({ id, result, error }: JsonObject): string | undefined {
    if (!isId(id)) return "an answer without an id";
    if (error === undefined) {
      if (result === undefined) return "an answer without a result";
      this.#outgoing.take(String(id))?.settle(result);
      return undefined;
    }
    const { code, message, data } = isJsonObject(error) ? error : {};
    if (typeof code !== "number" || !Number.isSafeInteger(code) || typeof message !== "string") {
      return "an error without a code or a message";
    }
    this.#outgoing.take(String(id))?.settle(new WireError(code, message, data));
    return undefined;
  }

  #answer(id: string | number, outcome: unknown): undefined {
    try {
      if (outcome instanceof WireError) this.#write({ jsonrpc: "2.0", id, error: outcome });
      else this.#write({ jsonrpc: "2.0", id, result: outcome });
    } catch (cause) {
      if (isTooLarge(cause)) this.#answer(id, toErrorResponse(new SurfaceError("FRAME_TOO_LARGE", "")));
      else this.ended(cause);
    }
  }

  #write(message: object): void {
    this.#transport.write(message);
    if (this.#shares === undefined || !this.#transport.isFull) return;
    if (this.#shares.weigh(this.#transport.backlog)) return this.#transport.pause();
    // The far side has left more unread than it may.
    this.#transport.destroy();
    this.ended(new SurfaceError("OVERFLOW", "Cannot write to a link: its far side reads too slowly"));
  }
}

/** Dependencies of a {@link Heartbeat}. */
export interface HeartbeatDeps {
  readonly clock: Clock;
  /** Milliseconds of silence after which the far side is asked for a sign of life. */
  readonly everyMs: number;
  readonly peer: Pick<WirePeer, "takeHeard" | "takeMoved" | "tell" | "ask">;
  /** Called when the far side does not answer. */
  lost(): void;
}

/** Silent intervals until the far side counts as lost: one before it is asked, two after. */
const maxSilent = 3;

/** A timer that fires later than this share of its interval shows that this process was stopped, and nothing about the far side. */
const lateShare = 0.2;

/** Asks a silent far side for a sign of life, and reports it lost if none comes. */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  #silent = 0;
  #stop: () => void;
  #isOver = false;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
    this.#stop = this.#arm();
  }

  /** Stops it. Callable twice. */
  stop(): void {
    this.#isOver = true;
    this.#stop();
  }

  #arm(): () => void {
    const { clock, everyMs } = this.#deps;
    const dueAt = clock.now() + everyMs;
    return clock.after(everyMs, () => {
      if (this.#isOver) return;
      const isLate = clock.now() - dueAt > everyMs * lateShare;
      this.#tick(isLate);
      if (!this.#isOver) this.#stop = this.#arm();
    });
  }

  #tick(isLate: boolean): void {
    const { peer } = this.#deps;
    const wasHeard = peer.takeHeard();
    const hasMoved = peer.takeMoved();
    // A large message is under way: the answer to a ping would come behind it. The far side, too, needs a sign of life.
    if (hasMoved && !wasHeard) peer.tell();
    if (wasHeard || hasMoved || isLate) {
      this.#silent = 0;
      return;
    }
    this.#silent += 1;
    if (this.#silent === 1) peer.ask();
    if (this.#silent < maxSilent) return;
    this.stop();
    this.#deps.lost();
  }
}
