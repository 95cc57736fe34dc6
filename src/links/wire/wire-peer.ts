import { setImmediate } from "node:timers";
import { createMessageConnection, Message, type CancellationToken, type MessageConnection } from "vscode-jsonrpc/node";
import { SurfaceError } from "../../errors.ts";
import type { JsonObject } from "../../schema/json.ts";
import { CancelToken } from "./cancel-token.ts";
import { GuardedReader } from "./guarded-reader.ts";
import { GuardedWriter, isTooLarge, type Outgoing } from "./guarded-writer.ts";
import type { PeerShares } from "./peer-shares.ts";
import type { WireTransport } from "./transport.ts";

/** A request of the far side. */
export interface Incoming {
  readonly method: string;
  readonly params: unknown;
  readonly cancel: CancellationToken;
}

/** What a peer hears from its far side. None of these may throw. */
export interface PeerHandlers {
  /** Answers a request, with a result or a `ResponseError`; never rejects. */
  request(incoming: Incoming): Promise<unknown>;
  notification(method: string, params: unknown): void;
  /** What was written has been taken. */
  drained(): void;
  /** The connection is over; told once. What waits for it is to settle before this returns. */
  ended(cause: unknown): void;
}

/** What becomes of a request. One of them is called, once; none after the connection has ended. */
export interface Answered {
  result(result: unknown): void;
  /** The far side's error. */
  error(error: unknown): void;
  /** It was not written, and nothing is lost but itself. */
  unsent(cause: SurfaceError): void;
}

/** A request to the far side. */
export interface OutgoingRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly cancel: CancelToken;
  readonly answered: Answered;
}

/** More messages than this that wait for their turn are not read any further, until a few are left. */
const maxWaiting = 256;
const fewWaiting = 32;

type Handle = (message: Message) => void | Promise<void>;

const silent = { error() {}, warn() {}, info() {}, log() {} } as const;

/**
 * One end of a connection: JSON-RPC over a transport, with everything that a far side may send looked at first. It ends
 * once, whoever ends it, and nothing that it is handed throws.
 */
export class WirePeer {
  readonly #transport: WireTransport;
  readonly #handlers: PeerHandlers;
  readonly #connection: MessageConnection;
  readonly #writer: GuardedWriter;
  /** What a server counts of its peer. Nothing is read from it while it does not take what was written. */
  readonly #shares: PeerShares | undefined;
  readonly #pauses = new Set<"waiting" | "full">();
  #waiting = 0;
  #wasHeard = false;
  #received = 0;
  #backlog = 0;
  #isOver = false;
  /** Nothing more comes, and what has come has its turn before the end. */
  #ending: { readonly cause: unknown } | undefined;

  /** @param shares - given by a server, which does not trust its peer. */
  constructor(transport: WireTransport, handlers: PeerHandlers, shares?: PeerShares) {
    this.#transport = transport;
    this.#handlers = handlers;
    this.#shares = shares;
    const reader = new GuardedReader(transport.reader, {
      heard: () => this.#onHeard(),
      passed: () => this.#onPassed(),
      admit: () => (shares?.admit(transport.size) === false ? undefined : transport.size),
      answered: (size) => shares?.answered(size),
      malformed: (why) => this.#finish(new SurfaceError("PROTOCOL_MISMATCH", `Reading a message: found ${why}`)),
    });
    this.#writer = new GuardedWriter(transport.writer, {
      wrote: () => this.#onWrote(),
      answered: (id) => reader.answered(id),
      asked: (id) => reader.asked(id),
      unasked: (id) => reader.unasked(id),
    });
    const messageStrategy = { handleMessage: (message: Message, next: Handle) => this.#handle(message, next) };
    this.#connection = createMessageConnection(reader, this.#writer, silent, { messageStrategy });
  }

  /** Whether it can be written to. */
  get isOpen(): boolean {
    return !this.#isOver && this.#ending === undefined;
  }

  /** Whether more was written than the far side has taken. */
  get isFull(): boolean {
    return this.#transport.isFull;
  }

  /** Begins to read. */
  listen(): void {
    this.#connection.onRequest((method: string, params: unknown, cancel: CancellationToken) =>
      this.#handlers.request({ method, params, cancel }),
    );
    this.#connection.onNotification((method: string, params: unknown) => this.#handlers.notification(method, params));
    this.#connection.onError(([error, message]) => {
      // One message was too large to be written: its sender is told.
      if (message === undefined || !isTooLarge(error)) this.#finish(error);
    });
    this.#connection.onClose(() => this.#finish(undefined));
    this.#transport.onDrain(() => this.#onDrain());
    this.#connection.listen();
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
    if (!this.isFull) void this.notify(method, {});
  }

  /** Sends a request. Its caller has seen that the peer is open. */
  request({ method, params, cancel, answered }: OutgoingRequest): void {
    const sending = this.#connection.sendRequest(method, params, cancel);
    const outgoing: Outgoing = this.#writer.last;
    sending.then(
      (result: unknown) => {
        if (!this.#isOver) answered.result(result);
      },
      (error: unknown) => {
        if (this.#isOver) return;
        const { failure } = outgoing;
        if (failure === undefined) return answered.error(error);
        if (isTooLarge(failure)) return answered.unsent(failure);
        this.end(failure);
      },
    );
  }

  /** Sends a request whose answer is of no interest but for being one. */
  ask(method: string): void {
    if (!this.isOpen) return;
    const ignore = (): void => {};
    this.request({
      method,
      params: {},
      cancel: new CancelToken(),
      answered: { result: ignore, error: ignore, unsent: ignore },
    });
  }

  /** Cancels a request that was sent with this token. */
  cancel(token: CancelToken): void {
    if (this.isOpen) token.fire();
  }

  /** Sends a notification, where that is possible. Rejects with `FRAME_TOO_LARGE`, and with nothing else. */
  async notify(method: string, params: JsonObject): Promise<void> {
    if (!this.isOpen) return;
    try {
      await this.#connection.sendNotification(method, params);
    } catch (cause) {
      if (isTooLarge(cause)) throw cause;
      this.end(cause);
    }
  }

  /** Ends the connection, now; what was written is still sent. Callable twice. */
  end(cause: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#shares?.close();
    this.#handlers.ended(cause);
    this.#connection.dispose();
    this.#transport.close();
  }

  /** The far side has left more unread than it may. */
  #drop(): void {
    this.#transport.destroy();
    this.#endSoon(new SurfaceError("OVERFLOW", "Writing to a link: its far side reads too slowly"));
  }

  #onHeard(): boolean {
    this.#wasHeard = true;
    return this.isOpen;
  }

  #onPassed(): void {
    this.#waiting += 1;
    if (this.#waiting === maxWaiting) this.#pause("waiting");
  }

  #handle(message: Message, next: Handle): void | Promise<void> {
    // A cancel that comes here was not counted: most never do.
    if (Message.isNotification(message) && message.method === "$/cancelRequest") return next(message);
    this.#waiting -= 1;
    if (this.#waiting === fewWaiting) this.#resume("waiting");
    const handling = next(message);
    if (this.#ending !== undefined && this.#waiting === 0) this.#endSoon(this.#ending.cause);
    return handling;
  }

  #onWrote(): void {
    if (this.#shares === undefined || !this.#transport.isFull) return;
    if (!this.#shares.weigh(this.#transport.backlog)) return this.#drop();
    this.#pause("full");
  }

  #onDrain(): void {
    // The far side has taken something: it is there.
    this.#wasHeard = true;
    if (this.#isOver) return;
    this.#shares?.weigh(this.#transport.backlog);
    this.#resume("full");
    this.#handlers.drained();
  }

  #pause(reason: "waiting" | "full"): void {
    if (this.#pauses.size === 0) this.#transport.pause();
    this.#pauses.add(reason);
  }

  #resume(reason: "waiting" | "full"): void {
    if (this.#pauses.delete(reason) && this.#pauses.size === 0) this.#transport.resume();
  }

  /** Reads no further, lets what has come have its turn, and ends. */
  #finish(cause: unknown): void {
    if (!this.isOpen) return;
    this.#ending = { cause };
    if (this.#waiting === 0) this.#endSoon(cause);
  }

  /** An answer that was handled a moment ago is on its way to its caller. */
  #endSoon(cause: unknown): void {
    setImmediate(() => this.end(cause));
  }
}
