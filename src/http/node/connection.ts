import type { Socket } from "node:net";
import type { Clock } from "../../spine/clock.ts";
import { StallTimer } from "../stall-timer.ts";

/** What connections are held to. */
export interface ConnectionSetting {
  readonly clock: Clock;
  /** How long a client may leave an answer unread until its connection is dropped, in milliseconds. */
  readonly stallMs: number;
}

/** What is answered on a connection. */
export interface OpenReply {
  /** Whether the system has all of the answer, as far as can be told at once. */
  readonly isSent: boolean;
  /** Whether its request is still coming in, and nothing was answered yet. */
  readonly isComing: boolean;
  /** The connection is closed. */
  gone(): void;
}

/** What whoever counts over all connections is told. */
export interface ConnectionEvents {
  /** One more was answered, and is not read yet. */
  answered(): void;
  /** So many of them are read, or lost. */
  sent(count: number): void;
}

/** How many requests may be under way on one connection: clients that send the next before an answer are rare. */
const maxOpen = 64;

/** How much of several answers may wait to be read. A single one may be larger. */
const maxUnreadBytes = 16 * 1024 * 1024;

/**
 * What is answered on one connection, in the order in which it was asked. Node answers in that order, too, and keeps what
 * nobody reads for as long as the connection is open: here it ends. It goes away with its connection.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  readonly #stall: StallTimer;
  readonly #open = new Set<OpenReply>();
  /** Those that were answered and are not read yet, and how large they are. */
  readonly #unread = new Map<OpenReply, number>();
  #unreadBytes = 0;
  #isLate = false;
  /** Set while a body is read: called when it does not come in time. */
  onLate: (() => void) | undefined;

  constructor(socket: Socket, { clock, stallMs, events }: ConnectionSetting & { readonly events: ConnectionEvents }) {
    this.#socket = socket;
    this.#events = events;
    this.#stall = new StallTimer(clock, stallMs, () => socket.destroy());
    socket.once("close", () => this.#closed());
  }

  /** Whether something is being answered. */
  get isAnswering(): boolean {
    return this.#open.size > 0;
  }

  /** Whether a request did not come in time. Nothing is read behind it: the connection closes with its answer. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /**
   * The request that is coming in is too slow. Returns `false` where it can get no answer: none is coming in, or it was
   * answered already.
   */
  late(): boolean {
    // A later request is not parsed before the one ahead of it is complete.
    const last = [...this.#open].at(-1);
    if (last?.isComing !== true || this.#isLate) return false;
    this.#isLate = true;
    this.onLate?.();
    return true;
  }

  /** Whether one more request may be under way; if not, the connection is dropped. */
  hasRoom(): boolean {
    if (this.#open.size < maxOpen) return true;
    this.#socket.destroy();
    return false;
  }

  /** A request has come. */
  add(reply: OpenReply): void {
    this.#open.add(reply);
  }

  /** One was answered with so many bytes, none of which need be read yet. */
  answered(reply: OpenReply, bytes: number): void {
    // Its connection is closed already.
    if (!this.#open.has(reply) || this.#unread.has(reply)) return;
    this.#unread.set(reply, bytes);
    this.#unreadBytes += bytes;
    this.#events.answered();
    if (this.#unread.size > 1 && this.#unreadBytes > maxUnreadBytes) this.#socket.destroy();
    else this.#watch();
  }

  /** Some of what was answered has been read. */
  moved(): void {
    this.#stall.close();
    this.#watch();
  }

  /** One is done with. Callable twice. */
  remove(reply: OpenReply): void {
    this.#open.delete(reply);
    this.#unreadBytes -= this.#unread.get(reply) ?? 0;
    if (this.#unread.delete(reply)) this.#events.sent(1);
    this.moved();
  }

  /** Only the first can be read: those behind it wait for what it waits for, which need not be its client. */
  #watch(): void {
    const [first] = this.#open;
    this.#stall.update(first !== undefined && this.#unread.has(first) && !first.isSent);
  }

  #closed(): void {
    this.#stall.close();
    const left = [...this.#open];
    this.#open.clear();
    this.#events.sent(this.#unread.size);
    this.#unread.clear();
    for (const reply of left) reply.gone();
  }
}
