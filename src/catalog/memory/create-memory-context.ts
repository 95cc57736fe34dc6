import type { Clock } from "../../spine/clock.ts";
import { reportToConsole, type FaultReporter } from "../../surface/fault.ts";
import { systemClock } from "../../surface/system-clock.ts";
import type { MemoryContext } from "./memory-context.ts";
import { MemoryJobs } from "./memory-jobs.ts";
import { MemoryTopics } from "./memory-topics.ts";
import { MemoryValues } from "./memory-values.ts";

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
