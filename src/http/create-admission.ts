import { callerKey } from "../surface/caller-key.ts";
import type { Caller } from "../surface/caller.ts";
import { CallQueue } from "../mcp/call-queue.ts";
import type { Admission, Holder, Place, Turning } from "./admission.ts";
import { Budget, type OverBudget } from "../spine/budget.ts";
import type { HttpBounds } from "./setting.ts";

/** How much there may be of each. */
export type AdmissionBounds = Pick<
  HttpBounds,
  "maxInFlight" | "maxStreamsPerPrincipal" | "maxStreams" | "maxSessionsPerPrincipal" | "maxSessions"
>;

/** Names whose turn it is: nobody chooses an id so that it is somebody else's session. */
function toKey({ caller, session }: Holder): string {
  if (!caller.isAnonymous) return `caller ${callerKey(caller)}`;
  return session === undefined ? "anonymous" : `session ${session}`;
}

/** A queue for each who asks, for as long as something of theirs runs or waits: that of one is never behind another's. */
class Turns {
  readonly #queues = new Map<string, CallQueue<object>>();
  readonly #maxRunning: number;

  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning;
  }

  /** Takes a turn, and holds the bytes of the request's body until it is done or withdrawn. */
  take(from: Holder, start: (done: () => void) => void): Turning | undefined {
    const holder = toKey(from);
    const queue = this.#queueOf(holder);
    if (queue.full) return undefined;
    const letGo = from.bytes?.hold();
    let isDone = false;
    const done = (): void => {
      if (isDone) return;
      isDone = true;
      letGo?.();
      if ((from.reply?.heldBytes ?? 0) > 0) this.#rest(holder, queue);
      queue.done();
      if (queue.idle) this.#queues.delete(holder);
    };
    const key = {};
    queue.add(key, () => start(done));
    const withdraw = (): boolean => {
      // No queue is left idle by it: something runs where something waits.
      const isWithdrawn = queue.withdraw(key);
      if (isWithdrawn) letGo?.();
      return isWithdrawn;
    };
    return { withdraw };
  }

  /**
   * Starts one request of a holder in each turn of the event loop until none waits: the sockets of others come between. One,
   * because Node accepts one connection a turn.
   */
  #rest(holder: string, queue: CallQueue<object>): void {
    if (queue.held) return;
    queue.hold(true);
    const startNext = (): void => {
      if (queue.startOne()) return void setImmediate(startNext);
      queue.hold(false);
      if (queue.idle) this.#queues.delete(holder);
    };
    setImmediate(startNext);
  }

  #queueOf(holder: string): CallQueue<object> {
    const queue = this.#queues.get(holder) ?? new CallQueue<object>(this.#maxRunning);
    this.#queues.set(holder, queue);
    return queue;
  }
}

/** Takes a place: so many for each caller who is known, so many in all. */
function openPlace(budget: Budget, caller: Caller): Place | OverBudget {
  const share = budget.open(caller.isAnonymous ? undefined : callerKey(caller));
  return share.take(1) ?? { release: () => share.release() };
}

/**
 * Counts what one caller, and all of them, have at once. Nothing of it is kept of who has nothing: it does not grow with
 * how many callers there have been. Needs no disposing.
 */
export function createAdmission(bounds: AdmissionBounds): Admission {
  const turns = { calls: new Turns(bounds.maxInFlight), reads: new Turns(bounds.maxInFlight) };
  const streams = new Budget({ total: bounds.maxStreams, perKey: bounds.maxStreamsPerPrincipal });
  const sessions = new Budget({ total: bounds.maxSessions, perKey: bounds.maxSessionsPerPrincipal });
  return {
    take: (holder, turn, start) => turns[turn].take(holder, start),
    openStream: (caller) => openPlace(streams, caller),
    openSession: (caller) => openPlace(sessions, caller),
    get counts() {
      return { streams: streams.use.used, sessions: sessions.use.used };
    },
  };
}
