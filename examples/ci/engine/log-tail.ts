/** The newest part of a node's log. */
export interface LogTail {
  readonly node: string;
  readonly text: string;
  /** Whether the beginning has been cut off. */
  readonly truncated: boolean;
  /** UTF-8 bytes written in all, also those that were cut off. */
  readonly bytes: number;
}

/** How much of a log is kept, in UTF-8 bytes. */
export const LOG_BYTES = 65_536;
/** How far behind the cut a line may begin and still be where the text begins; a longer one is cut inside. */
const LINE_SEARCH_BYTES = 4096;
const NEWLINE = 0x0a;

/** Keeps the newest `limit` bytes of a text that grows. */
export interface TailBuffer {
  append(text: string): void;
  clear(): void;
  /** Replaces everything by what another buffer held. */
  restore(from: Pick<LogTail, "text" | "bytes">): void;
  /** At most `limit` bytes; when cut, it begins at a line if one begins near the cut, else at a character. */
  text(): string;
  /** UTF-8 bytes appended since the last `clear`. */
  bytes(): number;
}

/** Makes an empty buffer. Between reads it holds up to twice `limit`, so that small appends need not cut each time. */
export function createTailBuffer(limit: number): TailBuffer {
  let kept = "";
  let keptBytes = 0;
  let bytes = 0;
  const cutTo = (bound: number): void => {
    if (keptBytes <= bound) return;
    kept = newestOf(Buffer.from(kept), limit);
    keptBytes = Buffer.byteLength(kept);
  };
  return {
    append(text) {
      const added = Buffer.byteLength(text);
      kept += text;
      keptBytes += added;
      bytes += added;
      cutTo(2 * limit);
    },
    clear() {
      kept = "";
      keptBytes = 0;
      bytes = 0;
    },
    restore(from) {
      kept = from.text;
      keptBytes = Buffer.byteLength(kept);
      bytes = from.bytes;
    },
    text() {
      cutTo(limit);
      return kept;
    },
    bytes: () => bytes,
  };
}

/**
 * The newest `limit` bytes of a text, where there are more: it begins at a line if one begins near the cut, else at a
 * character. The byte before the cut must be among those given: when it ends a line, nothing more has to go.
 */
export function newestOf(all: Buffer, limit: number): string {
  const cut = all.length - limit;
  if (cut <= 0) return all.toString("utf8");
  const newline = all.subarray(cut - 1, cut + Math.min(LINE_SEARCH_BYTES, limit - 1)).indexOf(NEWLINE);
  let from = newline >= 0 ? cut + newline : cut;
  while (isContinuation(all[from])) from += 1;
  return all.toString("utf8", from);
}

/** Whether a byte is inside a UTF-8 character (10xxxxxx). */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
