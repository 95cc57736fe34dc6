import { CallQueue, createQueues, type TurnQueues } from "../mcp/dispatcher.ts";
import type { Turn } from "../mcp/methods.ts";
import { Budget, type OverBudget } from "../spine/budget.ts";
import { callerKey, type Caller } from "../surface/caller.ts";
import type { HttpBounds } from "./options.ts";

/** A stream or session that is counted until it is released. */
export interface Permit {
  /** Callable twice. */
  release(): void;
}

/** Bounds of {@link Admission}. */
export type AdmissionBounds = Pick<
  HttpBounds,
  "maxInFlight" | "maxStreamsPerPrincipal" | "maxStreams" | "maxSessionsPerPrincipal" | "maxSessions"
>;

/** Returns whether a permit was refused. */
export function isRefused(permit: Permit | OverBudget): permit is OverBudget {
  return "limit" in permit;
}

function takePermit(budget: Budget, caller: Caller): Permit | OverBudget {
  const share = budget.open(budgetKeyOf(caller));
  return share.take(1) ?? { release: () => share.release() };
}

/**
 * Bounds the calls, streams and sessions of one caller and of all callers. Keeps nothing for callers without any. Needs no `close()`.
 *
 * Each known caller has queues, each anonymous session has its own, and anonymous callers without a session share theirs.
 */
export class Admission {
  readonly #maxInFlight: number;
  readonly #known: Readonly<Record<Exclude<Turn, "none">, Map<string, CallQueue>>> = {
    calls: new Map(),
    reads: new Map(),
  };
  readonly #anonymous: TurnQueues;
  readonly #streams: Budget;
  readonly #sessions: Budget;

  constructor(bounds: AdmissionBounds) {
    this.#maxInFlight = bounds.maxInFlight;
    this.#anonymous = createQueues(bounds.maxInFlight);
    this.#streams = new Budget({ total: bounds.maxStreams, perKey: bounds.maxStreamsPerPrincipal });
    this.#sessions = new Budget({ total: bounds.maxSessions, perKey: bounds.maxSessionsPerPrincipal });
  }

  /** Creates the queues of a session; `undefined` for a known caller, whose sessions share queues. */
  openQueues(caller: Caller): TurnQueues | undefined {
    return caller.isAnonymous ? createQueues(this.#maxInFlight) : undefined;
  }

  /** Returns the queue in which a caller's request takes its place. */
  queueOf(turn: Exclude<Turn, "none">, caller: Caller, ofSession: TurnQueues = this.#anonymous): CallQueue {
    if (caller.isAnonymous) return ofSession[turn];
    const queues = this.#known[turn];
    const key = callerKey(caller);
    let queue = queues.get(key);
    if (queue === undefined) {
      queue = new CallQueue(this.#maxInFlight, () => queues.delete(key));
      queues.set(key, queue);
    }
    return queue;
  }

  /** Permits a stream that stays open. */
  openStream(caller: Caller): Permit | OverBudget {
    return takePermit(this.#streams, caller);
  }

  /** Permits a session. */
  openSession(caller: Caller): Permit | OverBudget {
    return takePermit(this.#sessions, caller);
  }

  /** Number of permits that are not released. */
  get counts(): { readonly streams: number; readonly sessions: number } {
    return { streams: this.#streams.use.used, sessions: this.#sessions.use.used };
  }
}

const mappedPrefix = "::ffff:";

/**
 * Returns the network of a client: an IPv4 address itself, or the first 64 bits of an IPv6 address, since one client has all
 * addresses behind them.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  if (address.includes("."))
    return address.slice(address.toLowerCase().startsWith(mappedPrefix) ? mappedPrefix.length : 0);
  const [left = "", right = ""] = address.split("%", 1).join("").split("::");
  const before = left === "" ? [] : left.split(":");
  const after = right === "" ? [] : right.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}

/** Returns the key of a caller in budgets. An anonymous caller is counted by address, if that is known. */
export function budgetKeyOf(caller: Caller, address?: string): string | undefined {
  if (!caller.isAnonymous) return callerKey(caller);
  return address === undefined ? undefined : `address ${networkOf(address)}`;
}

/**
 * Stages of a request, in order: the cheapest and most global first. A request that one stage refuses does not reach the next. `caps`
 * checks queues, sessions and streams. `gate` looks up the entry, and checks scopes and rate limits before the handler runs.
 */
export const stages = ["head", "token", "body", "envelope", "caps", "gate", "arguments", "backend"] as const;

/** One of {@link stages}. */
export type Stage = (typeof stages)[number];

/** Number of requests that reached each stage. */
export type StageCounts = Readonly<Record<Stage, number>>;

/** Counts the stages of the requests of one server. */
export class StageCounters {
  // One entry for each stage.
  readonly #counts = Object.fromEntries(stages.map((stage) => [stage, 0])) as Record<Stage, number>;

  /** Counts a request that reached a stage. */
  readonly reached = (stage: Stage): void => {
    this.#counts[stage] += 1;
  };

  /** Returns a copy of the counts. */
  read(): StageCounts {
    return { ...this.#counts };
  }
}
