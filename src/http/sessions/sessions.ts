import { callerKey } from "../../surface/caller-key.ts";
import type { Caller } from "../../surface/caller.ts";
import type { Clock } from "../../spine/clock.ts";
import type { PostedRequest } from "./posted-request.ts";
import type { Session } from "./session.ts";

/**
 * Time without a request after which a session gives way to a new one, in milliseconds. Without it, more clients than places
 * would end each other's sessions in turn.
 */
const givesWayAfterMs = 10_000;

/** The sessions of a server. An idle session is ended after a time, with one timer for all. */
export class Sessions {
  readonly #held = new Map<string, Session>();
  /** Sessions that have ended, and whose handlers run on. */
  readonly #ending = new Set<Session>();
  readonly #clock: Clock;
  readonly #idleMs: number;
  #stopTimer: (() => void) | undefined;
  /** Messages that were thrown away in sessions that have ended. */
  #dropped = 0;

  /** @param idleMs - 0: never. */
  constructor(clock: Clock, idleMs: number) {
    this.#clock = clock;
    this.#idleMs = idleMs;
  }

  /** Number of messages that were thrown away unsent, in all sessions so far. */
  get dropped(): number {
    let count = this.#dropped;
    for (const session of this.#held.values()) count += session.dropped;
    return count;
  }

  /** Requests whose handlers run, also in sessions that have ended. */
  get running(): readonly PostedRequest[] {
    return this.#all().flatMap(({ dispatcher }) => dispatcher.running);
  }

  /** Adds a session, and ends it in time. */
  add(id: string, session: Session): void {
    this.#held.set(id, session);
    this.#arm(this.#idleMs);
  }

  /** Finds a session of a caller. One of another caller looks as if it did not exist. */
  find(id: string, caller: Caller): Session | undefined {
    const session = this.#held.get(id);
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
    for (const [id, session] of this.#held) {
      if (!session.dispatcher.isIdle || (of !== undefined && callerKey(session.caller) !== callerKey(of))) continue;
      const { idleSince = Infinity } = session;
      const givesWay = idleSince <= latest || session.hasLeft;
      if (givesWay && idleSince < since) [idlest, since] = [id, idleSince];
    }
    if (idlest !== undefined) this.end(idlest);
    return idlest !== undefined;
  }

  /** Ends a session. Its place is free when no handler runs for it. */
  end(id: string): void {
    const session = this.#held.get(id);
    if (session === undefined) return;
    this.#held.delete(id);
    this.#dropped += session.dropped;
    session.close();
    this.#ending.add(session);
    session.dispatcher.whenIdle(() => void this.#ending.delete(session));
  }

  /** Ends the streams of all sessions. Resolves when every request has its answer. */
  async drain(): Promise<void> {
    await Promise.all(Array.from(this.#held.values(), (session) => session.drain()));
  }

  /** Ends all sessions. Callable twice. */
  close(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    for (const id of this.#held.keys()) this.end(id);
  }

  /** Resolves when no handler runs. */
  async idle(): Promise<void> {
    await Promise.all(
      this.#all().map((session) => new Promise<void>((resolve) => session.dispatcher.whenIdle(resolve))),
    );
  }

  #all(): readonly Session[] {
    return [...this.#held.values(), ...this.#ending];
  }

  #arm(delayMs: number): void {
    if (this.#idleMs === 0 || this.#held.size === 0) return;
    this.#stopTimer ??= this.#clock.after(delayMs, () => {
      this.#stopTimer = undefined;
      this.#arm(this.#sweep());
    });
  }

  /** Ends sessions that were idle for too long. Returns when the next one may be due, in milliseconds. */
  #sweep(): number {
    const now = this.#clock.now();
    let nextMs = this.#idleMs;
    for (const [id, session] of this.#held) {
      const leftMs = (session.idleSince ?? now) + this.#idleMs - now;
      // Timers may fire a little early; whole milliseconds are as fine as they get.
      if (leftMs < 1) this.end(id);
      else nextMs = Math.min(nextMs, leftMs);
    }
    return nextMs;
  }
}
