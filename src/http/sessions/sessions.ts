import { callerKey } from "../../surface/caller-key.ts";
import type { Caller } from "../../surface/caller.ts";
import type { Clock } from "../../spine/clock.ts";
import type { Place } from "../admission.ts";
import type { PostedRequest } from "./posted-request.ts";
import type { Session } from "./session.ts";

/**
 * Time without a request after which a session gives way to a new one, in milliseconds. Without it, more clients than places
 * would end each other's sessions in turn.
 */
const givesWayAfterMs = 10_000;

/** A session and its place among all. */
interface Held {
  readonly session: Session;
  readonly place: Place;
}

/** The sessions of a server. One that does nothing for a while is ended, with one timer for all of them. */
export class Sessions {
  readonly #held = new Map<string, Held>();
  /** Sessions that have ended, and whose handlers run on. */
  readonly #ending = new Set<Session>();
  readonly #clock: Clock;
  readonly #idleMs: number;
  #stopTimer: (() => void) | undefined;
  /** Messages that were thrown away in sessions that have ended. */
  #dropped = 0;

  /** @param idleMs - 0: none is ended for doing nothing. */
  constructor(clock: Clock, idleMs: number) {
    this.#clock = clock;
    this.#idleMs = idleMs;
  }

  /** How many messages were thrown away before anybody was sent them, over all sessions that there ever were. */
  get dropped(): number {
    let count = this.#dropped;
    for (const { session } of this.#held.values()) count += session.dropped;
    return count;
  }

  /** Requests whose handlers run, also in sessions that have ended. */
  get running(): readonly PostedRequest[] {
    return this.#all().flatMap(({ running }) => running);
  }

  /** Takes one over, with the place that it holds. */
  add(id: string, session: Session, place: Place): void {
    this.#held.set(id, { session, place });
    this.#arm(this.#idleMs);
  }

  /** Finds a caller's own; another's is not told apart from one that never was. */
  find(id: string, caller: Caller): Session | undefined {
    const session = this.#held.get(id)?.session;
    return session !== undefined && callerKey(session.caller) === callerKey(caller) ? session : undefined;
  }

  /**
   * Ends the session that has been idle the longest: most clients leave without a DELETE. Ends none that had a request in the
   * last ten seconds, unless its client has closed its stream since. Returns whether it ended one.
   *
   * @param of - ends only a session of this caller. Default: of any.
   */
  endIdlest(of?: Caller): boolean {
    let idlest: string | undefined;
    let since = Infinity;
    const latest = this.#clock.now() - givesWayAfterMs;
    for (const [id, { session }] of this.#held) {
      if (!session.isIdle || (of !== undefined && callerKey(session.caller) !== callerKey(of))) continue;
      const { idleSince = Infinity } = session;
      const givesWay = idleSince <= latest || session.hasLeft;
      if (givesWay && idleSince < since) [idlest, since] = [id, idleSince];
    }
    if (idlest !== undefined) this.end(idlest);
    return idlest !== undefined;
  }

  /** Ends a session. Its place is free once nothing runs for it. */
  end(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#held.delete(id);
    const { session, place } = held;
    this.#dropped += session.dropped;
    session.close();
    this.#ending.add(session);
    // Handlers that ignore their signal go on: a client that ends its sessions must not run more of them than others.
    session.whenIdle(() => {
      this.#ending.delete(session);
      place.release();
    });
  }

  /** Ends the streams of all of them. Resolves when nothing runs any more. */
  async drain(): Promise<void> {
    await Promise.all([...this.#held.values()].map(({ session }) => session.drain()));
  }

  /** Ends all of them. Callable twice. */
  close(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    for (const id of this.#held.keys()) this.end(id);
  }

  /** Resolves when no handler runs. */
  async idle(): Promise<void> {
    await Promise.all(this.#all().map((session) => new Promise<void>((resolve) => session.whenIdle(resolve))));
  }

  #all(): readonly Session[] {
    return [...Array.from(this.#held.values(), ({ session }) => session), ...this.#ending];
  }

  #arm(delayMs: number): void {
    if (this.#idleMs === 0 || this.#held.size === 0) return;
    this.#stopTimer ??= this.#clock.after(delayMs, () => {
      this.#stopTimer = undefined;
      this.#arm(this.#sweep());
    });
  }

  /** Ends those that have done nothing for too long. Says when the next one may be due. */
  #sweep(): number {
    const now = this.#clock.now();
    let nextMs = this.#idleMs;
    for (const [id, { session }] of this.#held) {
      const leftMs = (session.idleSince ?? now) + this.#idleMs - now;
      // Timers may fire a little early; whole milliseconds are as fine as they get.
      if (leftMs < 1) this.end(id);
      else nextMs = Math.min(nextMs, leftMs);
    }
    return nextMs;
  }
}
