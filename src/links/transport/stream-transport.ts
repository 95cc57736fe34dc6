import type { Buffer } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import { SurfaceError } from "../../errors.ts";
import type { WireTransport } from "../wire/transport.ts";
import { BaseTransport } from "./base-transport.ts";
import { BatchWriter } from "./batch-writer.ts";
import { FrameCutter, maxFirstBytes, maxFrameBytes } from "./frame-cutter.ts";
import { BacklogReader } from "./backlog-reader.ts";

/** The two ends of a pipe of bytes. */
export interface PipeEnds {
  readonly input: Readable;
  readonly output: Writable;
  /** Says that nothing follows, once everything was written. Default: ends the output. */
  readonly end?: () => void;
  /** Lets go of both at once. May be called more than once. */
  readonly destroy: () => void;
  /** Whether no large message is read before one was answered with a result, as a server does with a hello. */
  readonly isWary?: boolean;
  /** Why it ended, for a log, where more is known than the streams say. Never rejects. */
  readonly explain?: () => Promise<Error | undefined>;
}

function toBroken(cause: unknown): SurfaceError {
  return new SurfaceError("DISCONNECTED", "Using a link: the connection broke", { cause });
}

/** Carries messages over bytes, framed as in the Language Server Protocol. Listens to both streams for good. */
class StreamTransport extends BaseTransport {
  readonly reader: BacklogReader;
  readonly writer: BatchWriter;
  received = 0;
  readonly #ends: PipeEnds;
  readonly #cutter: FrameCutter;

  constructor(ends: PipeEnds) {
    super();
    const { input, output, end = () => output.end(), isWary = false } = ends;
    this.#ends = ends;
    this.reader = new BacklogReader({
      backlog: (isHeavy) => (isHeavy ? input.pause() : input.resume()),
      over: () => this.destroy(),
    });
    const cutter = new FrameCutter((text) => this.reader.push(text));
    this.#cutter = cutter;
    if (isWary) cutter.maxBytes = maxFirstBytes;
    this.writer = new BatchWriter(
      output,
      () => end(),
      () => (cutter.maxBytes = maxFrameBytes),
    );
    input.on("data", this.#onData);
    input.on("end", () => void this.#finish());
    for (const stream of new Set([input, output])) {
      stream.on("error", (cause: unknown) => void this.#finish(toBroken(cause)));
      stream.on("close", () => void this.#finish());
    }
    output.on("drain", () => this.drained());
  }

  get backlog(): number {
    return this.#ends.output.writableLength;
  }

  destroy(): void {
    this.#ends.destroy();
  }

  protected onceClosed(fn: () => void): void {
    this.#ends.input.once("close", fn);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.received += chunk.length;
    try {
      this.#cutter.push(chunk);
    } catch (cause) {
      // It cannot be known where the next message starts. What had come before is still handed on.
      this.#ends.input.off("data", this.#onData).resume();
      this.reader.end(cause instanceof Error ? cause : toBroken(cause));
    }
  };

  async #finish(cause?: Error): Promise<void> {
    const { explain } = this.#ends;
    this.reader.end(explain === undefined ? cause : ((await explain()) ?? cause));
  }
}

/** Makes a transport over two streams, which it owns from then on. */
export function createStreamTransport(ends: PipeEnds): WireTransport {
  return new StreamTransport(ends);
}
