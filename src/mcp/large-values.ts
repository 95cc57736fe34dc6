import { randomBytes } from "node:crypto";
import type { Resolved } from "../catalog/resolve-uri.ts";
import type { Clock } from "../spine/clock.ts";
import { systemClock } from "../surface/system-clock.ts";
import { cutText } from "./cut-text.ts";
import { writeJson } from "./write-json.ts";

/** The text of a tool's result that is given whole, in bytes. */
export const defaultResultBytes: number = 256 * 1024;

/** What is under a URI that is given whole, in bytes. */
export const defaultResourceBytes: number = 1024 * 1024;

/** The least that either may be set to: less would not hold a part and what is said of it. */
export const leastLargeBytes = 4096;

const mostPartBytes = 128 * 1024;
const maxValues = 64;
const maxTotalBytes = 32 * 1024 * 1024;
const lifeMs = 10 * 60 * 1000;

/** What {@link LargeValues} is made of. */
export interface LargeValuesOptions {
  /** What every URI of the app starts with. */
  readonly uriPrefix: string;
  readonly maxResultBytes?: number | undefined;
  readonly maxResourceBytes?: number | undefined;
  /** Default: this machine's. */
  readonly clock?: Clock;
}

/** What is said of a value instead of all of it. */
export interface Excerpt {
  readonly truncated: true;
  /** How long the whole text is, in UTF-8. */
  readonly bytes: number;
  /** Its first part. */
  readonly excerpt: string;
  /** Where the next part can be read; left out where the text is too large to be kept. */
  readonly next?: string;
}

interface Kept {
  readonly text: string;
  readonly bytes: number;
  readonly parts: readonly string[];
  usedAt: number;
}

/** What can be read. */
export type Readable = Pick<Resolved, "id" | "scopes" | "read">;

/** The bytes of a text in UTF-8; counted only where they may be more than `limit`. */
export function bytesOver(text: string, limit: number): number | undefined {
  // A UTF-16 unit is at most 3 bytes.
  if (text.length * 3 <= limit) return undefined;
  const bytes = Buffer.byteLength(text);
  return bytes > limit ? bytes : undefined;
}

/**
 * Texts that were too large for one answer, cut into parts which can be read one by one for a while. The ids cannot be
 * guessed; those that were used least recently go first. Whoever made it closes it.
 */
export class LargeValues {
  readonly maxResultBytes: number;
  readonly maxResourceBytes: number;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #partBytes: number;
  /** Those used least recently first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;
  #stopTimer: (() => void) | undefined;

  constructor(options: LargeValuesOptions) {
    this.maxResultBytes = options.maxResultBytes ?? defaultResultBytes;
    this.maxResourceBytes = options.maxResourceBytes ?? defaultResourceBytes;
    this.#prefix = `${options.uriPrefix}_parts/`;
    this.#clock = options.clock ?? systemClock;
    // A part is read as a resource, and by a tool that reads resources: it has to fit into either answer.
    this.#partBytes = Math.min(mostPartBytes, Math.floor(Math.min(this.maxResultBytes, this.maxResourceBytes) / 2));
  }

  /** Keeps a text of so many bytes, and gives what is said instead of it. */
  keep(text: string, bytes: number): Excerpt {
    const [known, found] = this.#find(text) ?? [];
    const kept = found ?? { text, bytes, parts: cutText(text, this.#partBytes), usedAt: 0 };
    const [excerpt = ""] = kept.parts;
    if (bytes > maxTotalBytes) return { truncated: true, bytes, excerpt };
    const id = known ?? randomBytes(16).toString("hex");
    this.#use(id, kept);
    return { truncated: true, bytes, excerpt, ...this.#next(id, kept, 1) };
  }

  /** The part that a URI names; `undefined` where there is none, or none any more. */
  resolve(uri: string): Readable | undefined {
    if (!uri.startsWith(this.#prefix)) return undefined;
    const [id = "", number = "", ...more] = uri.slice(this.#prefix.length).split("/", 3);
    this.#forgetOld();
    const kept = this.#kept.get(id);
    const part = /^[1-9]\d{0,6}$/.test(number) && more.length === 0 ? Number(number) : 0;
    const text = kept?.parts[part - 1];
    if (kept === undefined || text === undefined) return undefined;
    this.#use(id, kept);
    const body = writeJson({ part, of: kept.parts.length, text, ...this.#next(id, kept, part) });
    // Whoever has its id was given its beginning.
    return { id: "_parts", scopes: [], read: async () => body };
  }

  /** Forgets everything. Callable twice. */
  close(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#kept.clear();
    this.#bytes = 0;
  }

  /** Where the part behind one can be read. */
  #next(id: string, { parts }: Kept, part: number): { readonly next?: string } {
    return part < parts.length ? { next: `${this.#prefix}${id}/${part + 1}` } : {};
  }

  /** The same text, read once more, is not kept twice. */
  #find(text: string): readonly [string, Kept] | undefined {
    for (const entry of this.#kept) if (entry[1].text === text) return entry;
    return undefined;
  }

  #use(id: string, kept: Kept): void {
    if (!this.#kept.delete(id)) this.#bytes += kept.bytes;
    kept.usedAt = this.#clock.now();
    this.#kept.set(id, kept);
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#kept.size <= maxValues && this.#bytes <= maxTotalBytes) break;
      this.#forget(oldest, bytes);
    }
    this.#arm(lifeMs);
  }

  #arm(delayMs: number): void {
    this.#stopTimer ??= this.#clock.after(delayMs, () => {
      this.#stopTimer = undefined;
      this.#forgetOld();
      const [first] = this.#kept.values();
      if (first !== undefined) this.#arm(Math.max(1, first.usedAt + lifeMs - this.#clock.now()));
    });
  }

  #forgetOld(): void {
    const least = this.#clock.now() - lifeMs;
    for (const [id, { bytes, usedAt }] of this.#kept) {
      if (usedAt > least) return;
      this.#forget(id, bytes);
    }
  }

  #forget(id: string, bytes: number): void {
    if (this.#kept.delete(id)) this.#bytes -= bytes;
  }
}
