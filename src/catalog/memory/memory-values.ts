import { SurfaceError } from "../../errors.ts";
import type { Clock } from "../../spine/clock.ts";
import { assertMilliseconds } from "./assert-milliseconds.ts";
import { assertText } from "./assert-text.ts";
import type { KeyValue } from "./memory-context.ts";

/** How many keys there are at most. */
const maxKeys = 10_000;

interface Kept {
  readonly value: unknown;
  /** When it is gone; infinite where it stays. */
  readonly until: number;
}

/** Values in memory. What has had its time is looked at no more, and makes room where that is needed: no timer runs for it. */
export class MemoryValues implements KeyValue {
  readonly #kept = new Map<string, Kept>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): unknown {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    if (kept.until > this.#clock.now()) return kept.value;
    this.#kept.delete(key);
    return undefined;
  }

  set(key: string, value: unknown, ttlMs?: number): void {
    assertText(key, "Setting a value", "its key");
    if (ttlMs !== undefined) assertMilliseconds(ttlMs, `Setting "${key}"`, "its time to live");
    if (!this.#kept.has(key)) this.#makeRoom(key);
    const until = ttlMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.now() + ttlMs;
    this.#kept.set(key, { value, until });
  }

  delete(key: string): boolean {
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    return kept !== undefined && kept.until > this.#clock.now();
  }

  keys(): readonly string[] {
    this.#forget();
    return [...this.#kept.keys()];
  }

  #makeRoom(key: string): void {
    if (this.#kept.size < maxKeys) return;
    this.#forget();
    if (this.#kept.size < maxKeys) return;
    throw new SurfaceError("OVERFLOW", `Setting "${key}": there are ${maxKeys} keys already`);
  }

  #forget(): void {
    const now = this.#clock.now();
    for (const [key, { until }] of this.#kept) if (until <= now) this.#kept.delete(key);
  }
}
