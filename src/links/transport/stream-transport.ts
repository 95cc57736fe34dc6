import { Buffer, isUtf8 } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import { FrameBuffer } from "../../json-rpc/frame-buffer.ts";
import {
  BaseTransport,
  maxFirstBytes,
  maxFrameBytes,
  toBroken,
  toTooLarge,
  unreadable,
  type WireTransport,
} from "./base-transport.ts";

const maxHeaderBytes = 4 * 1024;
const headerEnd = "\r\n\r\n";
/** The header that this package writes, up to the number. */
const usualHeader = "Content-Length: ";
const maxDigits = 15;
/** Text that no header has: a control character, half a line end, a line without a colon. */
const noHeader = /[^\t\r\n -~\u0080-\u00FF]|(?<!\r)\n|(?:^|\n)[^:\r\n]*\r\n/;
const nothing = Buffer.alloc(0);
const replacement = "\uFFFD";

/** Returns the decimal digit at a position; -1 for another byte, and after the end. */
function digitAt(bytes: Buffer, at: number): number {
  const digit = (bytes[at] ?? 0) - 0x30;
  return digit <= 9 ? digit : -1;
}

function readLength(header: string): number {
  const lengths: string[] = [];
  for (const line of header.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) throw unreadable('a header must be lines of "name: value"');
    if (line.slice(0, colon).toLowerCase() === "content-length") lengths.push(line.slice(colon + 1).trim());
  }
  const [length = ""] = lengths;
  if (lengths.length !== 1 || !/^[0-9]{1,15}$/.test(length)) {
    throw unreadable('a header must have one "Content-Length", a number of bytes');
  }
  return Number(length);
}

/** Cuts bytes into the texts of messages, each behind a header with its length. Memory is at most twice the largest frame that came. */
export class FrameCutter {
  readonly #onFrame: (text: string) => void;
  readonly #partial = new FrameBuffer();
  #header: Buffer = nothing;
  /** Length of the current message; `undefined` while its header is read. */
  #length: number | undefined;
  /** Most bytes of a message whose header is read from now on. */
  maxBytes: number = maxFrameBytes;

  /** @param onFrame - called within `push()`. */
  constructor(onFrame: (text: string) => void) {
    this.#onFrame = onFrame;
  }

  /** Reads a chunk, which is not kept. @throws SurfaceError `PROTOCOL_MISMATCH` or `FRAME_TOO_LARGE`; nothing can be read after either. */
  push(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0;) {
      rest = this.#length === undefined ? this.#readHeader(rest) : this.#readBody(rest, this.#length);
    }
  }

  /** Reads a whole header in the form that this package writes, and returns the rest. `undefined` for any other header. */
  #readUsualHeader(bytes: Buffer): Buffer | undefined {
    if (bytes.toString("latin1", 0, usualHeader.length) !== usualHeader) return undefined;
    const start = usualHeader.length;
    let length = 0;
    let at = start;
    for (let digit = digitAt(bytes, at); digit >= 0 && at < start + maxDigits; digit = digitAt(bytes, at)) {
      length = length * 10 + digit;
      at += 1;
    }
    const end = at + headerEnd.length;
    if (bytes.toString("latin1", at, end) !== headerEnd) return undefined;
    this.#length = this.#check(length);
    return bytes.subarray(end);
  }

  #readHeader(bytes: Buffer): Buffer {
    const before = this.#header.length;
    const usual = before === 0 ? this.#readUsualHeader(bytes) : undefined;
    if (usual !== undefined) return usual;
    const most = maxHeaderBytes + headerEnd.length - before;
    const joined = before === 0 ? bytes : Buffer.concat([this.#header, bytes.subarray(0, most)]);
    const end = joined.indexOf(headerEnd);
    if (end > maxHeaderBytes || (end === -1 && joined.length > maxHeaderBytes)) {
      throw unreadable(`a header must end within ${maxHeaderBytes} bytes`);
    }
    const header = joined.toString("latin1", 0, end === -1 ? joined.length : end);
    // At once: garbage may never contain the end of a header.
    if (noHeader.test(header)) throw unreadable('a header must be lines of "name: value"');
    if (end === -1) {
      this.#header = Buffer.from(joined);
      return nothing;
    }
    this.#length = this.#check(readLength(header));
    this.#header = nothing;
    return bytes.subarray(end + headerEnd.length - before);
  }

  #check(length: number): number {
    if (length === 0) throw unreadable("a frame must not be empty");
    if (length <= this.maxBytes) return length;
    throw toTooLarge(length, this.maxBytes);
  }

  #readBody(bytes: Buffer, length: number): Buffer {
    const missing = length - this.#partial.length;
    if (bytes.length < missing) {
      this.#partial.append(bytes);
      return nothing;
    }
    this.#length = undefined;
    const body = bytes.subarray(0, missing);
    if (this.#partial.length === 0) this.#deliver(body);
    else {
      this.#partial.append(body);
      this.#deliver(this.#partial.take());
    }
    return bytes.subarray(missing);
  }

  #deliver(body: Buffer): void {
    const text = body.toString("utf8");
    // Decoding is the cheap check: bad bytes become U+FFFD, and only a text with one is checked again.
    if (text.includes(replacement) && !isUtf8(body)) throw unreadable("a message must be UTF-8");
    this.#onFrame(text);
  }
}

/** UTF-16 units of one write: larger writes are not faster. */
const flushAt = 64 * 1024;

interface PipeEnds {
  readonly input: Readable;
  readonly output: Writable;
  readonly end?: () => void;
  readonly destroy: () => void;
  /** Whether large messages are refused before `trust()`. */
  readonly isWary?: boolean;
  /** Returns a better reason of the end than the streams have. Never rejects. */
  readonly explain?: () => Promise<Error | undefined>;
}

/** Carries messages over bytes, framed as in the Language Server Protocol. Sends the messages of one turn in one write, for speed. */
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
    // Runs after the microtasks of this turn, so that their answers are in the same write.
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
      // The start of the next message is unknown. Earlier messages are still delivered.
      this.#ends.input.off("data", this.#onData).resume();
      this.end(cause instanceof Error ? cause : toBroken(cause));
    }
  };

  async #finish(cause?: Error): Promise<void> {
    const { explain } = this.#ends;
    this.end(explain === undefined ? cause : ((await explain()) ?? cause));
  }
}

/** Creates a transport over two streams, which it owns from then on. */
export function createStreamTransport(ends: PipeEnds): WireTransport {
  return new StreamTransport(ends);
}
