import { SurfaceError } from "../../src/errors.ts";
import type { Bucket, Limiter, ReplayEntry, ReplayLog, SharedPlace, SharedStore } from "../../src/cluster/cluster.ts";

const maxValueBytes = 1_048_576;
const maxRead = 8;

interface Kept {
  readonly value: string;
  readonly until: number;
}

interface KeptLog {
  readonly entries: ReplayEntry[];
  readonly until: number;
}

function assertFits(value: string): void {
  const bytes = Buffer.byteLength(value);
  if (bytes <= maxValueBytes) return;
  throw new SurfaceError("OVERFLOW", `Cannot keep a value: it has ${bytes} bytes, and ${maxValueBytes} are allowed`);
}

/** The contents that all replicas of a hub share. */
export class MemoryContents {
  readonly #values = new Map<string, Kept>();
  readonly #places = new Map<string, Map<string, number>>();
  readonly #logs = new Map<string, KeptLog>();
  readonly #buckets = new Map<string, { readonly tokens: number; readonly at: number }>();
  readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  /** Forgets everything, as a store does that failed over to an empty one. */
  clear(): void {
    for (const part of [this.#values, this.#places, this.#logs, this.#buckets]) part.clear();
  }

  get(key: string): string | undefined {
    const kept = this.#values.get(key);
    return kept !== undefined && kept.until > this.now() ? kept.value : undefined;
  }

  set(key: string, value: string, ttlMs: number): true {
    assertFits(value);
    this.#values.set(key, { value, until: this.now() + ttlMs });
    return true;
  }

  delete(key: string): boolean {
    const isThere = this.get(key) !== undefined;
    this.#values.delete(key);
    return isThere;
  }

  take(member: string, places: readonly SharedPlace[], ttlMs: number): string | undefined {
    const now = this.now();
    const full = places.find(({ group, most }) => {
      const members = this.#membersOf(group, now);
      return !members.has(member) && members.size >= most;
    });
    if (full !== undefined) return full.group;
    for (const { group } of places) this.#membersOf(group, now).set(member, now + ttlMs);
    return undefined;
  }

  leave(member: string, groups: readonly string[]): void {
    for (const group of groups) this.#places.get(group)?.delete(member);
  }

  append(key: string, entry: ReplayEntry, bounds: { readonly maxEntries: number; readonly ttlMs: number }): boolean {
    assertFits(entry.text);
    const entries = this.#entriesOf(key);
    if ((entries.at(-1)?.number ?? 0) >= entry.number) return false;
    entries.push(entry);
    entries.splice(0, Math.max(0, entries.length - bounds.maxEntries));
    this.#logs.set(key, { entries, until: this.now() + bounds.ttlMs });
    return true;
  }

  read(key: string, after: number): readonly ReplayEntry[] {
    return this.#entriesOf(key)
      .filter(({ number }) => number > after)
      .slice(0, maxRead);
  }

  takeTokens(buckets: readonly Bucket[]): number {
    const now = this.now();
    const filled = buckets.map((bucket) => {
      const { tokens, at } = this.#buckets.get(bucket.key) ?? { tokens: bucket.size, at: now };
      return { ...bucket, tokens: Math.min(bucket.size, tokens + (now - at) / bucket.msPerToken) };
    });
    const waits = filled.map(({ tokens, cost, msPerToken }) => Math.ceil((cost - tokens) * msPerToken));
    const wait = Math.max(0, ...waits);
    if (wait === 0)
      for (const { key, tokens, cost } of filled) this.#buckets.set(key, { tokens: tokens - cost, at: now });
    return wait;
  }

  #membersOf(group: string, now: number): Map<string, number> {
    const members = this.#places.get(group) ?? new Map<string, number>();
    for (const [member, until] of members) if (until <= now) members.delete(member);
    this.#places.set(group, members);
    return members;
  }

  #entriesOf(key: string): ReplayEntry[] {
    const log = this.#logs.get(key);
    return log !== undefined && log.until > this.now() ? log.entries : [];
  }
}

/** Makes the ports of a replica. `reach` throws while the replica cannot reach the contents. */
export function createPorts(
  contents: MemoryContents,
  reach: () => void,
): { readonly store: SharedStore; readonly log: ReplayLog; readonly limiter: Limiter } {
  // The callers of a remote store get their answers in a later turn.
  const run = async <TValue>(work: () => TValue): Promise<TValue> => {
    await Promise.resolve();
    reach();
    return work();
  };
  const store: SharedStore = {
    now: () => run(() => contents.now()),
    get: (key) => run(() => contents.get(key)),
    set: (key, value, ttlMs) => run(() => void contents.set(key, value, ttlMs)),
    claim: (key, value, ttlMs) => run(() => contents.get(key) === undefined && contents.set(key, value, ttlMs)),
    swap: (key, { before, after }, ttlMs) => run(() => contents.get(key) === before && contents.set(key, after, ttlMs)),
    renew: (key, ttlMs) =>
      run(() => {
        const value = contents.get(key);
        return value !== undefined && contents.set(key, value, ttlMs);
      }),
    delete: (key) => run(() => contents.delete(key)),
    take: (member, places, ttlMs) => run(() => contents.take(member, places, ttlMs)),
    leave: (member, groups) => run(() => contents.leave(member, groups)),
  };
  const log: ReplayLog = {
    append: (key, entry, bounds) => run(() => contents.append(key, entry, bounds)),
    read: (key, after) => run(() => contents.read(key, after)),
  };
  return { store, log, limiter: { take: (buckets) => run(() => contents.takeTokens(buckets)) } };
}
