import type { Socket } from "node:net";
import type { Budget, Share } from "../../spine/budget.ts";
import type { Clock } from "../../spine/clock.ts";
import { isLoopbackAddress } from "../addresses.ts";
import { StallTimer } from "../sse.ts";
import type { NodeReply } from "./node-reply.ts";

/** Dependencies of {@link Connections}. */
export interface ConnectionsDeps {
  readonly clock: Clock;
  /** Milliseconds that a client may leave an answer unread until its connection is dropped. */
  readonly stallMs: number;
  /** Counts the bytes that clients leave unread. */
  readonly unread: Budget;
  /** Whether small answers are sent at the end of the turn. Not if others see the response: they ask it whether it was answered. */
  readonly delaysAnswers: boolean;
}

/** Most open requests of one connection. Clients that send the next request before an answer are rare. */
const maxOpen = 64;

/**
 * The replies of one connection, in the order of their requests, in which Node sends them. Node keeps unread answers for as long as
 * the connection is open; this class bounds them and ends the connection of a client that does not read.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #all: Connections;
  /** Created for the first answer that the system does not take at once. */
  #stall: StallTimer | undefined;
  /** In the order of the requests. A long-lived array that is mostly empty costs less than a set. */
  readonly #open: NodeReply[] = [];
  readonly #counted: Share | undefined;
  /** Shares of the replies that hold unread bytes, which are few. */
  readonly #shares = new Map<NodeReply, Share>();
  /** The last reply that ended before its request had arrived completely. */
  #early: NodeReply | undefined;
  #isLate = false;
  /** Address of the client, for as long as the connection lasts. */
  readonly address: string | undefined;
  /** Whether the client may be on another machine. */
  readonly isRemote: boolean;
  /** Called when a body that is being read is too slow. */
  onLate: (() => void) | undefined;

  /** @param counted - share of the connection in the bound of all connections, if there is one. */
  constructor(socket: Socket, all: Connections, counted: Share | undefined) {
    this.#socket = socket;
    this.#all = all;
    this.address = socket.remoteAddress;
    // The system has no address for a client that has reset its connection, and its request may still be read.
    this.isRemote = this.address === undefined || !isLoopbackAddress(this.address);
    this.#counted = counted;
    if (counted !== undefined) counted.eviction = "normal";
    socket.once("close", () => this.#closed());
  }

  /** Returns whether the connection is closed. */
  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** Returns whether a client would take text written now for the answer to a request. */
  get isAnswering(): boolean {
    return this.#open.length > 0 || this.#early?.isRead === false;
  }

  /** Returns whether a request that arrived completely has no answer yet. */
  get isBusy(): boolean {
    const first = this.#open[0];
    // Only the last one can be incomplete.
    return first !== undefined && !(this.#open.length === 1 && first.isArriving);
  }

  /** See {@link ConnectionsDeps}. */
  get delaysAnswers(): boolean {
    return this.#all.deps.delaysAnswers;
  }

  /** Returns whether the connection closes with its answer. */
  get isLeaving(): boolean {
    return this.#all.isLeaving;
  }

  /** Returns whether a request was too slow. The connection closes with its answer. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Gives up the request that is arriving. Returns `false` if none is, or it was answered already. */
  late(): boolean {
    // A later request is not parsed before the one ahead of it is complete.
    const last = this.#open.at(-1);
    if (last?.isArriving !== true || this.#isLate) return false;
    this.#isLate = true;
    this.onLate?.();
    return true;
  }

  /** Returns whether there is room for one more request. Drops the connection otherwise. */
  hasRoom(): boolean {
    if (this.#open.length < maxOpen) return true;
    this.#drop();
    return false;
  }

  /** Adds the reply of a request that arrived. */
  add(reply: NodeReply): void {
    this.#open.push(reply);
    this.#early = undefined;
    this.#counted?.touch();
  }

  /** Counts a reply as unread until it is removed. Its answer may be sent later in the same turn. */
  answered(reply: NodeReply): void {
    // Not open: the connection is closed already.
    if (reply.isUnread || !this.#open.includes(reply)) return;
    reply.isUnread = true;
    this.#all.count(1);
  }

  /** Counts the bytes of an answer that the system has not taken, and watches whether the client reads them. */
  written(reply: NodeReply): void {
    this.weigh(reply);
    this.#watch();
  }

  /** Counts the bytes that a reply holds at present. */
  weigh(reply: NodeReply): void {
    const share = this.#shares.get(reply);
    const bytes = reply.heldBytes;
    if (share === undefined && (bytes === 0 || !this.#open.includes(reply))) return;
    const counted = share ?? this.#share(reply);
    counted.resize(bytes);
    // The budget may have evicted this connection.
    if (this.#socket.destroyed) counted.release();
  }

  /** Notes that the client has read some of the answers. */
  moved(): void {
    this.#stall?.close();
    this.#watch();
    // Replies behind the first wait for it, and are not slower.
    for (const share of this.#shares.values()) share.touch();
  }

  /** Removes a reply that is complete or cut. Callable twice. */
  remove(reply: NodeReply): void {
    const at = this.#open.indexOf(reply);
    if (at >= 0) this.#open.splice(at, 1);
    if (!reply.isRead) this.#early = reply;
    this.#read(reply);
    this.#shares.get(reply)?.release();
    this.#shares.delete(reply);
    this.moved();
  }

  #read(reply: NodeReply): void {
    if (!reply.isUnread) return;
    reply.isUnread = false;
    this.#all.count(-1);
  }

  /** Watches the first reply: replies behind it wait for it, and not for the client. */
  #watch(): void {
    const first = this.#open[0];
    if (first?.isUnread !== true || first.isSent) return this.#stall?.close();
    const { clock, stallMs } = this.#all.deps;
    this.#stall ??= new StallTimer(clock, stallMs, () => this.#drop());
    this.#stall.update(true);
  }

  #share(reply: NodeReply): Share {
    const share: Share = this.#all.deps.unread.open(reply.owner, (_excess, what) => {
      if (what === "all") return this.#drop();
      // A stream reports only when a full buffer was emptied, so part of the amount may have left already.
      share.release(share.amount - reply.heldBytes);
    });
    this.#shares.set(reply, share);
    return share;
  }

  /** Closes the connection, and its requests at once: Node reports the close after all input of this turn. */
  #drop(): void {
    this.#socket.destroy();
    this.#closed();
  }

  #closed(): void {
    for (const share of this.#shares.values()) share.release();
    this.#shares.clear();
    this.#stall?.close();
    const left = this.#open.splice(0);
    for (const reply of left) this.#read(reply);
    for (const reply of left) reply.gone();
  }
}

/** The connections of one server, or of one handler under the author's server. */
export class Connections {
  readonly deps: ConnectionsDeps;
  /** Whether connections close with their answers. The server changes it. */
  isLeaving = false;
  readonly #known = new WeakMap<object, HttpConnection>();
  readonly #counted = new WeakMap<object, Share>();
  readonly #waiting: (() => void)[] = [];
  #unread = 0;

  constructor(deps: ConnectionsDeps) {
    this.deps = deps;
  }

  /** Counts unread answers. Only {@link HttpConnection} calls it. */
  count(change: number): void {
    this.#unread += change;
    if (this.#unread === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Sets the share of a connection that is counted. Each request makes it the last to be evicted. */
  bound(socket: Socket, counted: Share): void {
    this.#counted.set(socket, counted);
  }

  /** Returns a connection, and creates it with its first request. */
  of(socket: Socket): HttpConnection {
    const known = this.#known.get(socket);
    if (known !== undefined) return known;
    const connection = new HttpConnection(socket, this, this.#counted.get(socket));
    this.#known.set(socket, connection);
    return connection;
  }

  /** Returns a connection; `undefined` if it never had a request. */
  find(socket: object): HttpConnection | undefined {
    return this.#known.get(socket);
  }

  /** Resolves once the system has every answer, or the connection of the answer is closed. */
  async sent(): Promise<void> {
    if (this.#unread > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
