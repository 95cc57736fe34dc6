import { createTailBuffer } from "./log-tail.ts";
import type { LogTail } from "./log-tail.ts";
import { createSource } from "./source.ts";
import { createTextCleaner } from "./text-cleaner.ts";
import type { Watchable } from "./watch-latest.ts";

/** The log of one node: of its present attempt only, as plain text, bounded. */
export interface NodeLog extends Watchable<LogTail> {
  /** Forgets the attempt before. */
  clear(): void;
  /** Becomes what a log of the same node was. */
  restore(from: LogTail): void;
  /** Takes what the command wrote, as it wrote it. */
  readonly write: (bytes: Buffer) => void;
  /** Adds a line of the engine's own, on a line of its own. */
  note(line: string): void;
}

/** Makes an empty log that keeps the newest `limit` bytes, and hands everything on as it comes. */
export function createNodeLog(node: string, limit: number, tee: (text: string) => void = () => {}): NodeLog {
  const tail = createTailBuffer(limit);
  const cleaner = createTextCleaner();
  const changed = createSource<undefined>(undefined);
  let atLineStart = true;
  const append = (text: string): void => {
    if (text === "") return;
    tail.append(text);
    tee(text);
    atLineStart = text.endsWith("\n");
    changed.set(undefined);
  };
  return {
    clear() {
      cleaner.end();
      tail.clear();
      atLineStart = true;
      changed.set(undefined);
    },
    restore(from) {
      tail.restore(from);
      atLineStart = from.text === "" || from.text.endsWith("\n");
      changed.set(undefined);
    },
    write: (bytes) => append(cleaner.push(bytes)),
    note(line) {
      append(cleaner.end());
      append(`${atLineStart ? "" : "\n"}${line}\n`);
    },
    read() {
      const text = tail.text();
      const bytes = tail.bytes();
      return Object.freeze({ node, text, truncated: bytes > Buffer.byteLength(text), bytes });
    },
    subscribe: (listener) => changed.subscribe(listener),
  };
}
