import { randomBytes } from "node:crypto";
import { callerKey, grantKey, type Caller } from "../surface/caller.ts";
import type { EntryGuard } from "../catalog/entry.ts";
import type { Resolved } from "../catalog/resolve-uri.ts";
import type { SharedStore } from "../cluster/cluster.ts";
import { shortHash } from "../catalog/resources/watched-resource.ts";
import { Budget, type BudgetLimits, type Share } from "../spine/budget.ts";
import type { Clock } from "../spine/clock.ts";
import { systemClock } from "../surface/system-clock.ts";
import { writeJson } from "./protocol.ts";

/** The largest result of a tool that is sent whole, in bytes. */
export const defaultResultBytes: number = 256 * 1024;

/** The largest resource that is sent whole, in bytes. */
export const defaultResourceBytes: number = 1024 * 1024;

/** The least value of both options: less would not hold a part and its description. */
export const leastLargeBytes = 4096;

/** About 16,000 tokens of JSON: hosts cut the answer of a tool at 25,000. */
const mostPartBytes = 64 * 1024;
/** Bytes that the first answer shows. */
const mostExcerptBytes = 16 * 1024;
/** Default bytes of the texts that are kept; the key is a known caller. Anonymous callers count in total only. */
export const defaultPartLimits: BudgetLimits = Object.freeze({ total: 32 * 1024 * 1024, perKey: 8 * 1024 * 1024 });
const lifeMs = 10 * 60 * 1000;
/** Milliseconds between looks for a part in the store: the replica that made the answer may be writing it. */
const lookMs: readonly number[] = [50, 150, 300];

/** Options of {@link LargeValues}. */
interface LargeValuesOptions {
  /** The start of every URI of the app. */
  readonly uriPrefix: string;
  readonly maxResultBytes?: number | undefined;
  readonly maxResourceBytes?: number | undefined;
  /** @default the clock of this machine */
  readonly clock?: Clock;
}

/** The beginning of a value that is too large. */
export interface Excerpt {
  readonly truncated: true;
  /** URI of the next part; left out if the text is too large to be kept. Comes first, because hosts cut the end. */
  readonly next?: string;
  /** Bytes of the whole text in UTF-8. */
  readonly bytes: number;
  /** Its first part. */
  readonly excerpt: string;
}

/** The caller who may read the parts of a value, and the guard of the tool or resource that returned it. */
export interface KeptFor extends EntryGuard {
  readonly caller: Caller;
  /** The `rules` of the view that showed the value: by other rules it may be another value. */
  readonly rules: string;
}

interface Kept extends KeptFor {
  readonly id: string;
  /** The caller, and the guards that the caller has passed. */
  readonly owner: string;
  readonly text: string;
  readonly parts: readonly string[];
  readonly share: Share;
  usedAt: number;
  /** The time when its parts were last written to the store. */
  writtenAt: number;
}

/** A part that can be read. */
export type Readable = Pick<Resolved, "id" | "scopes" | "requires" | "read">;

/** The key of a part. A part of another caller has another key, and is not found. Unambiguous, because ids have no slash. */
function toKey({ owner, id }: Pick<Kept, "owner" | "id">): string {
  return `${owner}/${id}`;
}

/** The id of a text and the number of a part, in a URI. */
const partForm = /^([0-9a-f]{32})\/([1-9]\d{0,6})$/;

/** What names a kept text to other replicas. */
type KeptName = Pick<Kept, "owner" | "id" | "rules">;

/** The key of a part in the store. It has the caller and the rules in it, so that no other caller finds the part. */
function toSharedKey({ owner, id, rules }: KeptName, part: number): string {
  return `part:${shortHash(JSON.stringify([owner, rules]), 43)}:${id}:${part}`;
}

/**
 * Keeps texts that were too large for one answer, cut into parts that their caller can read one by one for ten minutes.
 * The ids cannot be guessed. Over the budget the texts that were used the longest ago go first. Call `close()` when done.
 */
export class LargeValues {
  readonly maxResultBytes: number;
  readonly maxResourceBytes: number;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #partBytes: number;
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #budget = new Budget(defaultPartLimits);
  #store: SharedStore | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(options: LargeValuesOptions) {
    this.maxResultBytes = options.maxResultBytes ?? defaultResultBytes;
    this.maxResourceBytes = options.maxResourceBytes ?? defaultResourceBytes;
    this.#prefix = `${options.uriPrefix}_parts/`;
    this.#clock = options.clock ?? systemClock;
    // A part is read as a resource, and by a tool that reads resources: it has to fit into either answer.
    this.#partBytes = Math.min(mostPartBytes, Math.floor(Math.min(this.maxResultBytes, this.maxResourceBytes) / 2));
  }

  /** Counts the bytes of kept texts in this budget, instead of the budget of this object. Call it before the first text is kept. */
  countIn(budget: Budget): void {
    this.#budget = budget;
  }

  /**
   * Writes the parts to a store as well, for ten minutes, from which other replicas read them. A part that the store did not take can
   * be read on this replica only.
   */
  shareIn(store: SharedStore): void {
    this.#store = store;
  }

  /** Keeps a text of so many bytes for a caller, and returns the excerpt that is answered instead of it. */
  keep(text: string, bytes: number, { caller, rules, scopes, requires }: KeptFor): Excerpt {
    const owner = grantKey(caller);
    const known = this.#find({ text, owner, rules });
    const begun = known ?? this.#begin(text, owner, caller);
    const [excerpt = ""] = begun.parts;
    if (known === undefined && begun.share.take(bytes) !== undefined) return { truncated: true, bytes, excerpt };
    const kept: Kept = { ...begun, owner, caller, rules, scopes, requires, text, usedAt: 0 };
    this.#use(kept);
    this.#write(kept);
    return { truncated: true, ...this.#next(kept, 1), bytes, excerpt };
  }

  #begin(text: string, owner: string, caller: Caller): Pick<Kept, "id" | "parts" | "share" | "writtenAt"> {
    const id = randomBytes(16).toString("hex");
    const parts = cutText(text, this.#partBytes, mostExcerptBytes);
    return { id, parts, share: this.#open(toKey({ owner, id }), caller), writtenAt: Number.NEGATIVE_INFINITY };
  }

  /** Returns the part that a URI names for this caller by these rules; `undefined` if it is unknown or expired. */
  resolve(uri: string, { caller, rules }: Pick<KeptFor, "caller" | "rules">): Readable | undefined {
    if (!uri.startsWith(this.#prefix)) return undefined;
    const [, id, number] = partForm.exec(uri.slice(this.#prefix.length)) ?? [];
    if (id === undefined) return undefined;
    this.#forgetOld();
    const owner = grantKey(caller);
    const kept = this.#kept.get(toKey({ owner, id }));
    const part = Number(number);
    if (kept === undefined) return this.#resolveShared({ owner, id, rules }, part);
    const body = this.#body(kept, part);
    if (kept.rules !== rules || body === undefined) return undefined;
    this.#use(kept);
    const { scopes, requires } = kept;
    return { id: "_parts", scopes, requires, read: async () => body };
  }

  /** Returns a part that another replica may have written. Its owner's key stands for the guard, which this caller has passed. */
  #resolveShared(kept: KeptName, part: number): Readable | undefined {
    const store = this.#store;
    if (store === undefined) return undefined;
    const key = toSharedKey(kept, part);
    const read = async (): Promise<string | undefined> => {
      for (const waitMs of lookMs) {
        const body = await store.get(key);
        if (body !== undefined) return body;
        await new Promise<void>((resolve) => void this.#clock.after(waitMs, resolve));
      }
      return store.get(key);
    };
    return { id: "_parts", scopes: [], requires: undefined, read };
  }

  #body(kept: Kept, part: number): string | undefined {
    const text = kept.parts[part - 1];
    return text === undefined ? undefined : writeJson({ part, of: kept.parts.length, ...this.#next(kept, part), text });
  }

  /** Writes all parts but the first, which is answered. */
  #write(kept: Kept): void {
    const { length } = kept.parts;
    const now = this.#clock.now();
    // The same answer again needs no new copy until half of its time is over.
    if (now - kept.writtenAt < lifeMs / 2) return;
    kept.writtenAt = now;
    for (let part = 2; this.#store !== undefined && part <= length; part += 1) {
      const body = this.#body(kept, part);
      // The store reports its outage itself.
      if (body !== undefined) void this.#store.set(toSharedKey(kept, part), body, lifeMs).catch(() => {});
    }
  }

  /** Deletes what {@link #write} has written, so that a caller has no more bytes in the store than here. */
  #erase(kept: Kept): void {
    const { length } = kept.parts;
    for (let part = 2; this.#store !== undefined && part <= length; part += 1)
      void this.#store.delete(toSharedKey(kept, part)).catch(() => {});
  }

  /** Forgets everything here. Other replicas read on in the store. Callable twice. */
  close(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    for (const key of this.#kept.keys()) this.#forget(key);
  }

  /** Returns the URI of the part behind one. */
  #next({ id, parts }: Kept, part: number): { readonly next?: string } {
    return part < parts.length ? { next: `${this.#prefix}${id}/${part + 1}` } : {};
  }

  /** Finds the same text, kept for the same readers, so that it is not kept twice. */
  #find({ text, owner, rules }: Pick<Kept, "text" | "owner" | "rules">): Kept | undefined {
    for (const kept of this.#kept.values())
      if (kept.owner === owner && kept.rules === rules && kept.text === text) return kept;
    return undefined;
  }

  #open(key: string, caller: Caller): Share {
    return this.#budget.open(caller.isAnonymous ? undefined : callerKey(caller), (_excess, what) => {
      if (what !== "all") return;
      const kept = this.#kept.get(key);
      if (kept !== undefined) this.#erase(kept);
      this.#forget(key);
    });
  }

  #use(kept: Kept): void {
    const key = toKey(kept);
    kept.usedAt = this.#clock.now();
    kept.share.touch();
    this.#kept.delete(key);
    this.#kept.set(key, kept);
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
    for (const [key, { usedAt }] of this.#kept) {
      if (usedAt > least) return;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#kept.get(key)?.share.release();
    this.#kept.delete(key);
  }
}

/** Returns `end`, or its neighbour if `end` is within a character. */
function toBoundary(text: string, start: number, end: number): number {
  const code = text.charCodeAt(end);
  const isInside = end < text.length && (code & 0xfc00) === 0xdc00 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  if (!isInside) return end;
  return end - 1 > start ? end - 1 : end + 1;
}

function findEnd(text: string, start: number, maxBytes: number): number {
  let length = Math.min(text.length - start, maxBytes);
  for (;;) {
    const end = toBoundary(text, start, start + length);
    const bytes = Buffer.byteLength(JSON.stringify(text.slice(start, end)));
    if (bytes <= maxBytes || length === 1) return end;
    length = Math.max(1, Math.min(length - 1, Math.floor((length * maxBytes) / bytes)));
  }
}

/** Returns the end of a part that may reach to `end`: behind the last line break of its last quarter, if there is one. */
function toLineEnd(text: string, start: number, end: number): number {
  if (end === text.length) return end;
  const from = end - Math.floor((end - start) / 4);
  // Search the quarter only: `lastIndexOf` on the text would scan back to its start for each part, which is quadratic.
  const line = text.slice(from, end).lastIndexOf("\n") + 1;
  return line > 0 ? from + line : end;
}

/**
 * Cuts a text into parts of at most so many bytes, counted as the JSON strings that they travel in: what is written in
 * escapes takes several times its length. A part ends with a line where it can, and never within a character. Joined, the parts
 * are the text again.
 *
 * @param firstBytes - how large the first part may be. @default `maxBytes`
 */
export function cutText(text: string, maxBytes: number, firstBytes: number = maxBytes): readonly string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    const most = start === 0 ? Math.min(firstBytes, maxBytes) : maxBytes;
    const end = toLineEnd(text, start, findEnd(text, start, most));
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}
