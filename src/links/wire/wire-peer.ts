import { SurfaceError } from "../../errors.ts";
import type { JsonObject } from "../../schema/json.ts";
import { SlotMap } from "../../spine/collections.ts";
import { IncomingRequest } from "./incoming-request.ts";
import { judgeMessage } from "./judge-message.ts";
import type { PeerShares } from "./peer-shares.ts";
import { RpcError } from "./protocol.ts";
import type { TransportListener, WireTransport } from "./transport.ts";
import { refuse, toErrorAnswer } from "./wire-fault.ts";

/** What a peer tells its owner. None of these may throw. */
export interface PeerHandlers {
  /** Answers a request, now or later, by its `reply()`. */
  request(request: IncomingRequest): void;
  notification(method: string, params: unknown): void;
  /** What was written has been taken. */
  drained(): void;
  /** The connection is over; told once. What waits for it is to settle before this returns. */
  ended(cause: unknown, lost: readonly OutgoingRequest[]): void;
}

/** A request to the far side. One of its methods is called, once; only `lose()` after the connection has ended. */
export interface OutgoingRequest {
  /** Given by the peer that sends it. */
  id: number;
  readonly method: string;
  readonly params: JsonObject;
  result(result: unknown): void;
  error(error: RpcError): void;
  /** It was not sent because it is too large, or its connection has ended. */
  lose(cause: SurfaceError): void;
}

/** A request whose answer is of no interest but for being one. */
class Probe implements OutgoingRequest {
  id = -1;
  readonly method: string;
  readonly params: JsonObject = {};
  isOpen = true;

  constructor(method: string) {
    this.method = method;
  }

  result(): void {
    this.isOpen = false;
  }

  error(): void {
    this.isOpen = false;
  }

  lose(): void {
    this.isOpen = false;
  }
}

/** Whether one message was too large to be written. The connection is none the worse for it. */
function isTooLarge(cause: unknown): cause is SurfaceError {
  return cause instanceof SurfaceError && cause.code === "FRAME_TOO_LARGE";
}

/** Creates the error of a request of which nothing was sent. */
function createUnsent(): SurfaceError {
  return new SurfaceError("UNAVAILABLE", "Sending a request: the connection has ended");
}

/** Returns the method of a message that was judged to have one. */
function methodOf({ method }: JsonObject): string {
  return typeof method === "string" ? method : "";
}

function toAnswer(id: string | number, outcome: unknown): object {
  return outcome instanceof RpcError ? { jsonrpc: "2.0", id, error: outcome } : { jsonrpc: "2.0", id, result: outcome };
}

/**
 * One end of a connection: JSON-RPC over a transport, with everything that a far side may send looked at first. It ends
 * once, whoever ends it, and nothing that it is handed throws. Messages are handled as they come, in one turn those of one chunk.
 *
 * A number and its text are one id. A request whose id is in use is dropped, and so is an answer to nothing.
 */
export class WirePeer implements TransportListener {
  readonly #transport: WireTransport;
  readonly #handlers: PeerHandlers;
  /** What a server counts of its peer. Nothing is read from it while it does not take what was written. */
  readonly #shares: PeerShares | undefined;
  readonly #incoming = new SlotMap<string, IncomingRequest>();
  readonly #outgoing = new SlotMap<string, OutgoingRequest>();
  #probe: Probe | undefined;
  #lastId = -1;
  #wasHeard = false;
  #received = 0;
  #backlog = 0;
  #isOver = false;

  /** @param shares - given by a server, which does not trust its peer. */
  constructor(transport: WireTransport, handlers: PeerHandlers, shares?: PeerShares) {
    this.#transport = transport;
    this.#handlers = handlers;
    this.#shares = shares;
  }

  /** Whether it can be written to. */
  get isOpen(): boolean {
    return !this.#isOver;
  }

  /** Whether more was written than the far side has taken. */
  get isFull(): boolean {
    return this.#transport.isFull;
  }

  /** Begins to read. */
  listen(): void {
    this.#transport.listen(this);
  }

  /** Reads large messages from now on. */
  trust(): void {
    this.#transport.trust();
  }

  /** Whether something was heard, or taken, since this was last asked. */
  takeHeard(): boolean {
    const wasHeard = this.#wasHeard;
    this.#wasHeard = false;
    return wasHeard;
  }

  /** Whether bytes came or were taken since this was last asked. */
  takeMoved(): boolean {
    const { received, backlog } = this.#transport;
    const hasMoved = received > this.#received || backlog < this.#backlog;
    this.#received = received;
    this.#backlog = backlog;
    return hasMoved;
  }

  /** Lets the far side hear something, unless that waits behind what it has not taken. */
  tell(method: string): void {
    if (!this.isFull) this.notify(method, {});
  }

  /** Sends a request, or loses it at once. */
  request(request: OutgoingRequest): void {
    if (!this.isOpen) return request.lose(createUnsent());
    this.#lastId += 1;
    const id = this.#lastId;
    request.id = id;
    this.#outgoing.add(String(id), request);
    try {
      this.#write({ jsonrpc: "2.0", id, method: request.method, params: request.params });
    } catch (cause) {
      this.#outgoing.take(String(id));
      request.lose(isTooLarge(cause) ? cause : createUnsent());
      if (!isTooLarge(cause)) this.ended(cause);
    }
  }

  /** Asks for a sign of life, unless one that was asked for has not come. */
  ask(method: string): void {
    if (!this.isOpen || this.#probe?.isOpen === true) return;
    this.#probe = new Probe(method);
    this.request(this.#probe);
  }

  /** Cancels a request that was sent: its answer is dropped. */
  cancel(request: OutgoingRequest): void {
    const { id } = request;
    if (this.#outgoing.take(String(id)) !== undefined) this.notify("$/cancelRequest", { id });
  }

  /**
   * Sends a notification, where that is possible.
   *
   * @throws SurfaceError `FRAME_TOO_LARGE`, and nothing else.
   */
  notify(method: string, params: JsonObject): void {
    if (!this.isOpen) return;
    try {
      this.#write({ jsonrpc: "2.0", method, params });
    } catch (cause) {
      if (isTooLarge(cause)) throw cause;
      this.ended(cause);
    }
  }

  /** Answers a request with a result or an error. An answer that is too large becomes an error that says so. */
  reply(request: IncomingRequest, outcome: unknown): void {
    if (this.#incoming.take(String(request.id)) === undefined || this.#isOver) return;
    this.#shares?.answered(request.size);
    this.#answer(request.id, outcome);
  }

  message(message: JsonObject): void {
    this.#wasHeard = true;
    if (!this.isOpen) return;
    const judgement = judgeMessage(message);
    switch (judgement.kind) {
      case "request":
        return this.#onRequest(message, judgement.id);
      case "answer":
        return this.#onAnswer(message, judgement.id);
      case "cancel":
        return this.#incoming.get(String(judgement.id))?.abort();
      case "other":
        return this.#handlers.notification(methodOf(message), message["params"]);
      case "malformed":
        return this.ended(new SurfaceError("PROTOCOL_MISMATCH", `Reading a message: found ${judgement.why}`));
      case "dropped":
    }
  }

  drained(): void {
    // The far side has taken something: it is there.
    this.#wasHeard = true;
    if (this.#isOver) return;
    this.#shares?.weigh(this.#transport.backlog);
    this.#transport.resume();
    this.#handlers.drained();
  }

  /** Ends the connection, now; what was written is still sent. Callable twice. */
  ended(cause: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#shares?.close();
    this.#handlers.ended(cause, this.#outgoing.list());
    for (const request of this.#incoming.list()) request.abort();
    this.#transport.close();
  }

  #onRequest(message: JsonObject, id: string | number): void {
    const key = String(id);
    if (this.#incoming.has(key)) return;
    const { size } = this.#transport;
    if (this.#shares?.admit(size) === false) return this.#answer(id, refuse("OVERFLOW"));
    const request = new IncomingRequest(this, {
      id,
      method: methodOf(message),
      params: message["params"],
      size,
    });
    this.#incoming.add(key, request);
    this.#handlers.request(request);
  }

  #onAnswer({ result, error }: JsonObject, id: string | number): void {
    const request = this.#outgoing.take(String(id));
    if (error === undefined) return request?.result(result);
    // It was judged to be the error of an answer.
    const { code, message, data } = error as { code: number; message: string; data?: unknown };
    request?.error(new RpcError(code, message, data));
  }

  #answer(id: string | number, outcome: unknown): void {
    try {
      this.#write(toAnswer(id, outcome));
    } catch (cause) {
      if (!isTooLarge(cause)) return this.isOpen ? this.ended(cause) : undefined;
      this.#answer(id, toErrorAnswer(new SurfaceError("FRAME_TOO_LARGE", "")));
    }
  }

  #write(message: object): void {
    this.#transport.write(message);
    if (this.#shares === undefined || !this.#transport.isFull) return;
    if (this.#shares.weigh(this.#transport.backlog)) return this.#transport.pause();
    // The far side has left more unread than it may.
    this.#transport.destroy();
    this.ended(new SurfaceError("OVERFLOW", "Writing to a link: its far side reads too slowly"));
  }
}
