import type { Buffer } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import { SurfaceError } from "../../errors.ts";
import type { WireTransport } from "../wire/transport.ts";
import { BaseTransport } from "./base-transport.ts";
import { FrameCutter, maxFirstBytes, maxFrameBytes } from "./frame-cutter.ts";

/** More in one write is not faster. In UTF-16 units, which counting costs nothing for. */
const flushAt = 64 * 1024;

/** The two ends of a pipe of bytes. */
export interface PipeEnds {
  readonly input: Readable;
  readonly output: Writable;
  /** Says that nothing follows, once everything was written. Default: ends the output. */
  readonly end?: () => void;
  /** Lets go of both at once. May be called more than once. */
  readonly destroy: () => void;
  /** Whether no large message is read before `trust()`. */
  readonly isWary?: boolean;
  /** Why it ended, for a log, where more is known than the streams say. Never rejects. */
  readonly explain?: () => Promise<Error | undefined>;
}

function toBroken(cause: unknown): SurfaceError {
  return new SurfaceError("DISCONNECTED", "Using a link: the connection broke", { cause });
}

/**
 * Carries messages over bytes, framed as in the Language Server Protocol. Messages of one turn go out in one write, since a write a
 * message is most of what a small message costs. Listens to both streams for good.
 */
class StreamTransport extends BaseTransport {
  received = 0;
  readonly #ends: PipeEnds;
  readonly #cutter: FrameCutter;
  #pending = "";
  #isScheduled = false;

  constructor(ends: PipeEnds) {
    super();
    const { input, output, isWary = false } = ends;
    this.#ends = ends;
    this.#cutter = new FrameCutter((text) => this.push(text));
    if (isWary) this.#cutter.maxBytes = maxFirstBytes;
    input.on("data", this.#onData);
    input.on("end", () => void this.#finish());
    for (const stream of new Set([input, output])) {
      stream.on("error", (cause: unknown) => void this.#finish(toBroken(cause)));
      stream.on("close", () => void this.#finish());
    }
    output.on("drain", () => this.drained());
  }

  get isFull(): boolean {
    return this.#ends.output.writableNeedDrain;
  }

  get backlog(): number {
    return this.#ends.output.writableLength;
  }

  trust(): void {
    this.#cutter.maxBytes = maxFrameBytes;
  }

  destroy(): void {
    this.#ends.destroy();
  }

  protected isWritable(): boolean {
    return this.#ends.output.writable;
  }

  protected send(text: string, bytes: number): void {
    this.#pending += `Content-Length: ${bytes}\r\n\r\n${text}`;
    if (this.#pending.length >= flushAt) return this.#flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Runs when the microtasks of this turn have: what they answer is in the same write.
    process.nextTick(this.#onTick);
  }

  protected finishWriting(): void {
    this.#flush();
    const { output, end } = this.#ends;
    if (end === undefined) output.end();
    else end();
  }

  protected flow(isFlowing: boolean): void {
    const { input } = this.#ends;
    if (isFlowing) input.resume();
    else input.pause();
  }

  protected onceClosed(fn: () => void): void {
    this.#ends.input.once("close", fn);
  }

  readonly #onTick = (): void => {
    this.#isScheduled = false;
    this.#flush();
  };

  #flush(): void {
    const text = this.#pending;
    this.#pending = "";
    if (text !== "" && this.#ends.output.writable) this.#ends.output.write(text);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.received += chunk.length;
    try {
      this.#cutter.push(chunk);
    } catch (cause) {
      // It cannot be known where the next message starts. What had come before is still handed on.
      this.#ends.input.off("data", this.#onData).resume();
      this.end(cause instanceof Error ? cause : toBroken(cause));
    }
  };

  async #finish(cause?: Error): Promise<void> {
    const { explain } = this.#ends;
    this.end(explain === undefined ? cause : ((await explain()) ?? cause));
  }
}

/** Makes a transport over two streams, which it owns from then on. */
export function createStreamTransport(ends: PipeEnds): WireTransport {
  return new StreamTransport(ends);
}
