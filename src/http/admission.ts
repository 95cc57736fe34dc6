import { CallQueue, createQueues, type TurnQueues } from "../mcp/call-queue.ts";
import type { Turn } from "../mcp/methods.ts";
import { Budget, type OverBudget } from "../spine/budget.ts";
import { callerKey } from "../surface/caller-key.ts";
import type { Caller } from "../surface/caller.ts";
import type { HttpBounds } from "./setting.ts";

/** A place that is taken until it is released. Callable twice. */
export interface Place {
  release(): void;
}

/** Bounds of {@link Admission}. */
export type AdmissionBounds = Pick<
  HttpBounds,
  "maxInFlight" | "maxStreamsPerPrincipal" | "maxStreams" | "maxSessionsPerPrincipal" | "maxSessions"
>;

/** Returns whether a place was refused. */
export function isRefused(place: Place | OverBudget): place is OverBudget {
  return "limit" in place;
}

function openPlace(budget: Budget, caller: Caller): Place | OverBudget {
  const share = budget.open(caller.isAnonymous ? undefined : callerKey(caller));
  return share.take(1) ?? { release: () => share.release() };
}

/**
 * Bounds what one caller, and all callers, have at once. It keeps nothing of callers who have nothing. Needs no disposing.
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

  /** Takes a place for a stream that stays open. */
  openStream(caller: Caller): Place | OverBudget {
    return openPlace(this.#streams, caller);
  }

  /** Takes a place for a session. */
  openSession(caller: Caller): Place | OverBudget {
    return openPlace(this.#sessions, caller);
  }

  /** Places that are taken. */
  get counts(): { readonly streams: number; readonly sessions: number } {
    return { streams: this.#streams.use.used, sessions: this.#sessions.use.used };
  }
}
