import { SurfaceError } from "../../../src/errors.ts";
import type { TransportListener, WireTransport } from "../../../src/links/transport/base-transport.ts";

/** What came off a wire: a test knows what it looks for. */
export type Loose = ReturnType<typeof JSON.parse>;

/** One end of a pipe in memory. What is written arrives a turn later, as JSON, in order. */
export class MemoryTransport implements WireTransport {
  /** Everything that was written here, parsed. */
  readonly sent: Loose[] = [];
  /** How many messages may be on their way before it is full. */
  capacity = 64;
  /** The longest text that is written. */
  maxLength = 1 << 20;
  /** Whether what is written goes nowhere: a peer that has stopped, and whose socket stands. */
  isSilent = false;
  isPaused = false;
  received = 0;
  size = 0;
  isClosed = false;
  onDelivered: () => void = () => {};
  other: MemoryTransport | undefined;
  #onWay: string[] = [];
  #listener: TransportListener | undefined;
  #isOver = false;
  #isHeld = false;
  #isScheduled = false;

  get isFull(): boolean {
    return this.#onWay.length >= this.capacity;
  }

  get backlog(): number {
    return this.#onWay.length;
  }

  listen(listener: TransportListener): void {
    this.#listener = listener;
  }

  trust(): void {}

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.other?.flow();
  }

  /** Sends what is written, then ends both ends. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.flow();
  }

  destroy(): void {
    this.cut();
  }

  /** Ends both ends at once; what is on its way is lost. */
  cut(cause?: Error): void {
    for (const end of [this, this.other]) {
      if (end === undefined) continue;
      end.isClosed = true;
      end.#onWay = [];
      end.#tellEnd(cause);
    }
  }

  /** Keeps what is written on its way, until `release()`. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.flow();
  }

  /** Writes anything, as a peer of another make might. */
  inject(message: unknown): void {
    this.#onWay.push(JSON.stringify(message));
    this.flow();
  }

  flow(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#deliver();
    });
  }

  write(message: object): void {
    const text = JSON.stringify(message);
    if (text.length > this.maxLength) throw new SurfaceError("FRAME_TOO_LARGE", "Writing a message: it is too large");
    if (this.isClosed) throw new Error("write after end");
    this.sent.push(JSON.parse(text));
    if (this.isSilent) return;
    this.#onWay.push(text);
    this.flow();
  }

  #end(): void {
    for (const end of [this, this.other]) {
      if (end === undefined) continue;
      end.isClosed = true;
      end.#tellEnd();
    }
  }

  #tellEnd(cause?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener?.ended(cause);
  }

  private take(text: string): void {
    this.received += 1;
    this.size = text.length;
    if (!this.#isOver) this.#listener?.message(JSON.parse(text));
  }

  #mayDeliver(): boolean {
    return this.#onWay.length > 0 && !this.#isHeld && this.other?.isPaused === false;
  }

  #deliver(): void {
    const wasFull = this.isFull;
    while (this.#mayDeliver()) {
      this.other?.take(this.#onWay.shift() ?? "null");
      this.onDelivered();
    }
    if (wasFull && !this.isFull) this.#listener?.drained();
    if (this.isClosed && this.#onWay.length === 0) this.#end();
  }
}

/** Both ends of a pipe in memory. */
export interface MemoryPair {
  readonly client: MemoryTransport;
  readonly server: MemoryTransport;
}

/** Makes a pipe in memory; with `cutAfter`, one that breaks once so many messages have arrived on either side. */
export function createMemoryPair(cutAfter = Number.POSITIVE_INFINITY): MemoryPair {
  const [client, server] = [new MemoryTransport(), new MemoryTransport()];
  client.other = server;
  server.other = client;
  let count = 0;
  const onDelivered = (): void => {
    count += 1;
    if (count === cutAfter) client.cut();
  };
  client.onDelivered = onDelivered;
  server.onDelivered = onDelivered;
  return { client, server };
}
