import { SurfaceError } from "../../errors.ts";
import type { Clock } from "../../spine/clock.ts";
import { internalError, reportToConsole, type FaultReporter } from "../../surface/fault.ts";
import { Listeners } from "../../surface/listeners.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { assertMilliseconds, assertText, type KeyValue, type MemoryContext, type PubSub } from "./memory-context.ts";
import { MemoryJobs } from "./memory-jobs.ts";

/** How many listen at most, to all topics together. */
const maxListeners = 10_000;

/** Topics in memory. One that nobody listens to takes no room. */
class MemoryTopics implements PubSub {
  readonly #topics = new Map<string, Listeners<unknown>>();
  readonly #report: FaultReporter;
  #count = 0;

  constructor(report: FaultReporter) {
    this.#report = report;
  }

  publish(topic: string, message: unknown): void {
    assertText(topic, "Publishing a message", "its topic");
    this.#topics.get(topic)?.tell(message, (cause) => this.#fail(topic, cause));
  }

  subscribe(topic: string, listener: (message: unknown) => void): () => void {
    assertText(topic, "Listening to a topic", "its name");
    if (typeof listener !== "function") {
      throw new SurfaceError("INVALID_OPTION", `Listening to topic "${topic}": its listener must be a function`);
    }
    if (this.#count >= maxListeners) {
      throw new SurfaceError("OVERFLOW", `Listening to topic "${topic}": ${maxListeners} listen already`);
    }
    const stop = this.#add(topic, listener);
    let isOn = true;
    return () => {
      if (isOn) stop();
      isOn = false;
    };
  }

  #add(topic: string, listener: (message: unknown) => void): () => void {
    const listeners = this.#topics.get(topic) ?? new Listeners<unknown>();
    const remove = listeners.add(listener);
    this.#topics.set(topic, listeners);
    this.#count += 1;
    return () => {
      remove();
      this.#count -= 1;
      // Others of its name may have come since.
      if (listeners.size === 0 && this.#topics.get(topic) === listeners) this.#topics.delete(topic);
    };
  }

  #fail(topic: string, cause: unknown): void {
    internalError(cause, `listener of topic "${topic}"`, this.#report);
  }
}

/** How many keys there are at most. */
const maxKeys = 10_000;

interface Kept {
  readonly value: unknown;
  /** When it is gone; infinite where it stays. */
  readonly until: number;
}

/** Values in memory. What has had its time is looked at no more, and makes room where that is needed: no timer runs for it. */
class MemoryValues implements KeyValue {
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

/** What a memory context is made with. */
export interface MemorySetting {
  /** Default: that of this machine. */
  readonly clock?: Clock | undefined;
  /** Told what listeners throw. Default: the console's error stream. */
  readonly report?: FaultReporter | undefined;
}

/** Makes a context in memory. It sets no timers and needs no disposing. */
export function createMemoryContext(setting: MemorySetting = {}): MemoryContext {
  const { clock = systemClock, report = reportToConsole } = setting;
  return Object.freeze({
    pubsub: new MemoryTopics(report),
    kv: new MemoryValues(clock),
    jobs: new MemoryJobs(clock),
  });
}

/**
 * Makes a context in memory, to be shared by all calls of an app, or of several: messages to whoever listens, values by key, and
 * work that is done once. Each call has one of its own where its app says nothing. Nothing to close.
 *
 * @example
 * ```ts
 * const shared = memoryContext();
 * const app = mcp(pipeline).context(() => shared);
 * ```
 */
export function memoryContext(): MemoryContext {
  return createMemoryContext();
}
