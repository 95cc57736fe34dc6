import { Buffer, isUtf8 } from "node:buffer";
import { SurfaceError } from "../../errors.ts";
import { FrameBuffer } from "../../json-rpc/frame-buffer.ts";

/** Most bytes of one message, its header not counted. */
export const maxFrameBytes: number = 16 * 1024 * 1024;

/** Most bytes of a message of somebody who has not said who it is: names and digests of some thousand members. */
export const maxFirstBytes: number = 1024 * 1024;

/** The error of a message that is larger than what is taken. */
export function toTooLarge(bytes: number, most: number): SurfaceError {
  return new SurfaceError(
    "FRAME_TOO_LARGE",
    `Reading from a link: a frame has ${bytes} bytes, and must have at most ${most}`,
  );
}

const maxHeaderBytes = 4 * 1024;
const headerEnd = "\r\n\r\n";
/** What no header has, whatever follows: a control character, half the end of a line, a line without a colon. */
const noHeader = /[^\t\r\n -~\u0080-\u00FF]|(?<!\r)\n|(?:^|\n)[^:\r\n]*\r\n/;
const nothing = Buffer.alloc(0);
const replacement = "\uFFFD";

function misfit(problem: string): SurfaceError {
  return new SurfaceError("PROTOCOL_MISMATCH", `Reading from a link: ${problem}`);
}

/** The length that a header names. Other fields are allowed, and mean nothing here. */
function readLength(header: string): number {
  const lengths: string[] = [];
  for (const line of header.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) throw misfit('a header must be lines of "name: value"');
    if (line.slice(0, colon).toLowerCase() === "content-length") lengths.push(line.slice(colon + 1).trim());
  }
  const [length = ""] = lengths;
  if (lengths.length !== 1 || !/^[0-9]{1,15}$/.test(length)) {
    throw misfit('a header must have one "Content-Length", a number of bytes');
  }
  return Number(length);
}

/**
 * Cuts a stream of bytes into the texts of messages, each behind a header that names its length. Memory is bounded by
 * twice the largest frame, and what a length promises is not set aside before it has come.
 */
export class FrameCutter {
  readonly #onFrame: (text: string) => void;
  readonly #partial = new FrameBuffer();
  #header: Buffer = nothing;
  /** How long the message is whose header was read; `undefined` while a header is read. */
  #length: number | undefined;
  /** Most bytes of a message whose header is read from now on. */
  maxBytes: number = maxFrameBytes;

  /** @param onFrame - told of each message, within `push()`. */
  constructor(onFrame: (text: string) => void) {
    this.#onFrame = onFrame;
  }

  /**
   * Reads a chunk, which is not kept.
   *
   * @throws SurfaceError `PROTOCOL_MISMATCH` for what is no frame, `FRAME_TOO_LARGE` as soon as a header names too many
   * bytes. Nothing can be read after either.
   */
  push(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0;) {
      rest = this.#length === undefined ? this.#readHeader(rest) : this.#readBody(rest, this.#length);
    }
  }

  #readHeader(bytes: Buffer): Buffer {
    const before = this.#header.length;
    const most = maxHeaderBytes + headerEnd.length - before;
    const joined = before === 0 ? bytes : Buffer.concat([this.#header, bytes.subarray(0, most)]);
    const end = joined.indexOf(headerEnd);
    if (end > maxHeaderBytes || (end === -1 && joined.length > maxHeaderBytes)) {
      throw misfit(`a header must end within ${maxHeaderBytes} bytes`);
    }
    const header = joined.toString("latin1", 0, end === -1 ? joined.length : end);
    // At once: garbage may be all that comes, and whoever waits for an answer would wait for the end of a header.
    if (noHeader.test(header)) throw misfit('a header must be lines of "name: value"');
    if (end === -1) {
      this.#header = Buffer.from(joined);
      return nothing;
    }
    this.#length = this.#check(readLength(header));
    this.#header = nothing;
    return bytes.subarray(end + headerEnd.length - before);
  }

  #check(length: number): number {
    if (length === 0) throw misfit("a frame must not be empty");
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
    // Decoding is the cheap check: bad bytes become U+FFFD, and only a text that holds one is looked at again.
    if (text.includes(replacement) && !isUtf8(body)) throw misfit("a message must be UTF-8");
    this.#onFrame(text);
  }
}
