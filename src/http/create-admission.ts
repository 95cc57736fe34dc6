import { callerKey } from "../catalog/caller-key.ts";
import type { Caller } from "../catalog/caller.ts";
import { CallQueue } from "../mcp/call-queue.ts";
import type { Admission, Holder, Place, Refused, Turning } from "./admission.ts";
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

/** Runs once, however often it is called. */
function once(run: () => void): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    run();
  };
}

/** A queue for each who asks, for as long as something of theirs runs or waits: that of one is never behind another's. */
class Turns {
  readonly #queues = new Map<string, CallQueue<object>>();
  readonly #maxRunning: number;

  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning;
  }

  take(holder: string, start: (done: () => void) => void): Turning | undefined {
    const queue = this.#queueOf(holder);
    if (queue.full) return undefined;
    const key = {};
    queue.add(key, () => {
      start(
        once(() => {
          queue.done();
          if (queue.idle) this.#queues.delete(holder);
        }),
      );
    });
    // No queue is left idle by it: something runs where something waits.
    return { withdraw: () => queue.withdraw(key) };
  }

  #queueOf(holder: string): CallQueue<object> {
    const queue = this.#queues.get(holder) ?? new CallQueue<object>(this.#maxRunning);
    this.#queues.set(holder, queue);
    return queue;
  }
}

/** Takes a turn, and holds what the request's body took until it is done, or taken back. */
function takeHolding(turns: Turns, holder: Holder, start: (done: () => void) => void): Turning | undefined {
  const { bytes } = holder;
  if (bytes === undefined) return turns.take(toKey(holder), start);
  const letGo = bytes.hold();
  const turning = turns.take(toKey(holder), (done) =>
    start(() => {
      letGo();
      done();
    }),
  );
  if (turning === undefined) letGo();
  return (
    turning && {
      withdraw: () => {
        const isWithdrawn = turning.withdraw();
        if (isWithdrawn) letGo();
        return isWithdrawn;
      },
    }
  );
}

/** Places of one sort: so many for each caller who is known, so many in all. */
class Places {
  readonly #ofCallers = new Map<string, number>();
  readonly #perPrincipal: number;
  readonly #max: number;
  #taken = 0;

  constructor(perPrincipal: number, max: number) {
    this.#perPrincipal = perPrincipal;
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  /** A caller's own bound comes first: it is the one that they can do something about, and says nothing of the others. */
  open(caller: Caller): Place | Refused {
    const key = caller.isAnonymous ? undefined : callerKey(caller);
    const own = key === undefined ? 0 : (this.#ofCallers.get(key) ?? 0);
    if (key !== undefined && own >= this.#perPrincipal) return { scope: "principal", limit: this.#perPrincipal };
    if (this.#taken >= this.#max) return { scope: "global", limit: this.#max };
    this.#taken += 1;
    if (key !== undefined) this.#ofCallers.set(key, own + 1);
    return { release: once(() => this.#release(key)) };
  }

  #release(key: string | undefined): void {
    this.#taken -= 1;
    if (key === undefined) return;
    const left = (this.#ofCallers.get(key) ?? 0) - 1;
    if (left > 0) this.#ofCallers.set(key, left);
    else this.#ofCallers.delete(key);
  }
}

/**
 * Counts what one caller, and all of them, have at once. Nothing of it is kept of who has nothing: it does not grow with
 * how many callers there have been. Needs no disposing.
 */
export function createAdmission(bounds: AdmissionBounds): Admission {
  const turns = { calls: new Turns(bounds.maxInFlight), reads: new Turns(bounds.maxInFlight) };
  const streams = new Places(bounds.maxStreamsPerPrincipal, bounds.maxStreams);
  const sessions = new Places(bounds.maxSessionsPerPrincipal, bounds.maxSessions);
  return {
    take: (holder, turn, start) => takeHolding(turns[turn], holder, start),
    openStream: (caller) => streams.open(caller),
    openSession: (caller) => sessions.open(caller),
    get counts() {
      return { streams: streams.taken, sessions: sessions.taken };
    },
  };
}
