import { SurfaceError } from "../errors.ts";
import { Backoff } from "./backoff.ts";
import type { Clock, Random } from "./clock.ts";
import { Places, type Place } from "./collections.ts";

/** A connection that was dialled. Its holder closes it. */
export interface HeldLink {
  /** Starts to close it. Callable twice; must not throw. */
  close(): void;
}

/** Callbacks of one attempt. May be called synchronously, late, or after the attempt was abandoned. */
export interface DialEvents<TLink> {
  /** Hands over the link. The receiver closes it, even if it comes too late. */
  opened(link: TLink): void;
  failed(cause: unknown): void;
  /** The link takes no new request; those under way may still be answered. */
  leaving(): void;
  /** The link has ended. Called at most once, also without `leaving()`; before `opened()` it means a link that was born dead. */
  ended(cause?: unknown): void;
}

/** Starts one attempt, and returns a function that abandons it. Must not throw. */
export type Dial<TLink extends HeldLink> = (events: DialEvents<TLink>) => () => void;

/** A user of the link: a watch while it is watched, a request until it is answered. */
export interface ConnectionUser<TLink> {
  /** Its place with the holder, which alone changes it. A user that joins again before it has left keeps its place. */
  place?: Place<ConnectionUser<TLink>> | undefined;
  /** Whether it lacks a link. The holder redials while a user does. */
  readonly wants: boolean;
  /** Returns true if it waits for the next attempt after this failure. Otherwise the holder calls {@link unreachable}. */
  isPatient(failure: unknown): boolean;
  /** Gives it a link, once a generation, and after the users that joined before it. */
  live(link: TLink, generation: number): void;
  /** Its link takes no new request. */
  down(generation: number): void;
  /** Its link has ended, and answers nothing any more. */
  ended(generation: number): void;
  /** There is no link, and the holder has removed this user. */
  unreachable(cause: unknown): void;
}

/** Dependencies of a {@link ConnectionManager}. */
export interface ConnectionManagerDeps<TLink extends HeldLink> {
  /** Names the far side in errors, for example `surface "ci"`. */
  readonly what: string;
  readonly dial: Dial<TLink>;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds for which an unused link is kept. */
  readonly idleMs: number;
}

/** Milliseconds that one attempt may take. */
export const dialTimeoutMs = 10_000;

/** Delays between attempts, in milliseconds. An application that restarts is often back within a tenth of a second. */
export const redial = { baseMs: 25, capMs: 1000, stableMs: 5000 } as const;

/** Attempts after a link that was born dead before users are told. */
const bornDead = { times: 3, withinMs: 10_000 } as const;

type State<TLink> =
  | { readonly kind: "idle" }
  | { readonly kind: "dialing"; readonly generation: number; abandon?: () => void; readonly stopTimer: () => void }
  | {
      readonly kind: "live";
      readonly generation: number;
      readonly link: TLink;
      /** The users in the order in which they get the link, until all have it. */
      opening?: Place<ConnectionUser<TLink>>[] | undefined;
    }
  | { readonly kind: "closed" };

/**
 * Owns the one link to a far side: dials when a user needs it, shares it, drops it as soon as it announces its end, redials while a user
 * waits, and closes it when it has been unused for a while.
 *
 * Everything is synchronous, so that the simulator can check every step. Each attempt has a generation; callbacks of an earlier one change
 * nothing, except that a link which opens too late is closed.
 */
export class ConnectionManager<TLink extends HeldLink> {
  readonly #setting: ConnectionManagerDeps<TLink>;
  readonly #users = new Places<ConnectionUser<TLink>>();
  /** Links that have announced their end, until it comes. */
  readonly #leaving = new Map<number, TLink>();
  readonly #backoff: Backoff;
  #state: State<TLink> = { kind: "idle" };
  #generation = 0;
  #stopRetry: (() => void) | undefined;
  #stopIdle: (() => void) | undefined;
  #idleSince = 0;
  #isDropping = false;
  #lastFailure: { readonly cause: unknown; readonly at: number } | undefined;
  #bornDead: { count: number; readonly since: number } | undefined;

  constructor(setting: ConnectionManagerDeps<TLink>) {
    this.#setting = setting;
    this.#backoff = new Backoff({ ...redial, clock: setting.clock, random: setting.random });
  }

  /** The link at present. */
  get current(): { readonly link: TLink; readonly generation: number } | undefined {
    return this.#state.kind === "live" ? this.#state : undefined;
  }

  /** Grows with every attempt, and with the end of every attempt and link. */
  get generation(): number {
    return this.#generation;
  }

  /** The cause of the last failed attempt; `undefined` while there is a link. */
  get lastFailure(): unknown {
    return this.#lastFailure?.cause;
  }

  /**
   * Adds a user. If there is a link, calls its `live()` at once, or in its turn if users that joined before do not have the link yet.
   * Returns a function that removes it.
   */
  join(user: ConnectionUser<TLink>): () => void {
    if (this.#state.kind === "closed") {
      user.unreachable(this.#createClosed());
      return () => {};
    }
    const isKnown = user.place !== undefined;
    user.place ??= this.#users.add(user);
    const state = this.#state;
    if (state.kind === "idle" && !this.#isDropping) this.#want(user);
    else if (state.kind === "live" && state.opening === undefined) user.live(state.link, state.generation);
    else if (state.kind === "live" && !isKnown) state.opening?.push(user.place);
    return () => {
      if (this.#remove(user)) this.#letGoOfUnused();
    };
  }

  /** Closes the link, and tells every user. No link is dialled after it. Callable twice. */
  close(): void {
    if (this.#state.kind === "closed") return;
    const former = this.#state;
    this.#generation += 1;
    this.#state = { kind: "closed" };
    this.#cancelTimers();
    this.#release(former);
    this.#closeLeaving();
    const places = this.#users.list();
    this.#users.clear();
    for (const { value: user } of places) user.unreachable(this.#createClosed());
  }

  #release(state: State<TLink>): void {
    if (state.kind === "live") state.link.close();
    if (state.kind !== "dialing") return;
    state.stopTimer();
    state.abandon?.();
  }

  #closeLeaving(): void {
    const leaving = [...this.#leaving.values()];
    this.#leaving.clear();
    for (const link of leaving) link.close();
  }

  #cancelTimers(): void {
    this.#stopRetry?.();
    this.#stopRetry = undefined;
    this.#stopIdle?.();
    this.#stopIdle = undefined;
  }

  #want(user: ConnectionUser<TLink>): void {
    if (this.#stopRetry === undefined) return this.#dial();
    const failure = this.#lastFailure;
    if (user.isPatient(failure?.cause)) return;
    // A retry is scheduled. A user that does not wait for it gets another attempt, but not too often.
    if (failure === undefined || this.#setting.clock.now() - failure.at >= redial.baseMs) return this.#dial();
    this.#letGo(user, failure.cause);
  }

  #dial(): void {
    this.#stopRetry?.();
    this.#stopRetry = undefined;
    this.#generation += 1;
    const generation = this.#generation;
    const tooLate = new SurfaceError("TIMEOUT", `Connecting to ${this.#setting.what}: nothing answered`);
    const stopTimer = this.#setting.clock.after(dialTimeoutMs, () => this.#abandon(generation, tooLate));
    const state: State<TLink> = { kind: "dialing", generation, stopTimer };
    this.#state = state;
    const abandon = this.#setting.dial({
      opened: (link) => this.#onOpened(generation, link),
      failed: (cause) => this.#onFailed(generation, cause),
      leaving: () => this.#onLeaving(generation),
      ended: (cause) => this.#onEnded(generation, cause),
    });
    // A callback was called within dial(): the holder closes its own link, and abandons any other attempt.
    if (this.#state !== state) return this.#isForeign(generation) ? abandon() : undefined;
    state.abandon = abandon;
    // The users may have left within dial(), before `abandon` was known.
    this.#letGoOfUnused();
  }

  #isForeign(generation: number): boolean {
    const here = this.#state.kind === "live" && this.#state.generation === generation;
    return !here && !this.#leaving.has(generation);
  }

  #abandon(generation: number, cause: unknown): void {
    const state = this.#state;
    if (state.kind !== "dialing" || state.generation !== generation) return;
    this.#bornDead = undefined;
    this.#fail(cause, state.abandon);
  }

  #onOpened(generation: number, link: TLink): void {
    const state = this.#state;
    if (state.kind !== "dialing" || state.generation !== generation) return link.close();
    state.stopTimer();
    // A user that joins from a callback waits its turn: the snapshot of a watch is not announced, so no read may overtake its stream.
    const opening = [...this.#users.list()];
    const live: Extract<State<TLink>, { kind: "live" }> = { kind: "live", generation, link, opening };
    this.#state = live;
    this.#lastFailure = undefined;
    this.#backoff.up();
    for (const place of opening) {
      if (this.#generation !== generation) return;
      if (place.isTaken) place.value.live(link, generation);
    }
    live.opening = undefined;
    if (this.#generation === generation && this.#users.size === 0) this.#expectIdle();
  }

  #onFailed(generation: number, cause: unknown): void {
    const state = this.#state;
    if (state.kind !== "dialing" || state.generation !== generation) return;
    state.stopTimer();
    this.#bornDead = undefined;
    this.#fail(cause);
  }

  #fail(cause: unknown, abandon?: () => void): void {
    this.#generation += 1;
    this.#state = { kind: "idle" };
    this.#lastFailure = { cause, at: this.#setting.clock.now() };
    const places = this.#users.list();
    abandon?.();
    for (const { value: user } of places) if (user.wants && !user.isPatient(cause)) this.#letGo(user, cause);
    // A user that was told may have started another attempt for one that was removed after that.
    this.#letGoOfUnused();
    this.#retry();
  }

  #letGo(user: ConnectionUser<TLink>, cause: unknown): void {
    if (this.#remove(user)) user.unreachable(cause);
  }

  #onLeaving(generation: number): void {
    const state = this.#state;
    if (state.kind !== "live" || state.generation !== generation) return;
    this.#leaving.set(generation, state.link);
    this.#drop(generation);
    this.#letGoOfUnused();
  }

  #onEnded(generation: number, cause: unknown): void {
    const state = this.#state;
    if (state.kind === "dialing" && state.generation === generation) return this.#onBornDead(state, cause);
    const wasLive = state.kind === "live" && state.generation === generation;
    if (!wasLive && !this.#leaving.delete(generation)) return;
    if (wasLive) this.#drop(generation);
    for (const place of this.#users.list()) if (place.isTaken) place.value.ended(generation);
  }

  #onBornDead(state: Extract<State<TLink>, { kind: "dialing" }>, cause: unknown): void {
    state.stopTimer();
    const now = this.#setting.clock.now();
    this.#bornDead ??= { count: 0, since: now };
    this.#bornDead.count += 1;
    const given = this.#bornDead;
    if (given.count > bornDead.times || now - given.since > bornDead.withinMs) {
      this.#bornDead = undefined;
      return this.#fail(cause);
    }
    this.#generation += 1;
    this.#state = { kind: "idle" };
    this.#retry();
  }

  #drop(generation: number): void {
    // First, so that callbacks of the teardown below are known to be late.
    this.#generation += 1;
    this.#state = { kind: "idle" };
    this.#bornDead = undefined;
    this.#stopIdle?.();
    this.#stopIdle = undefined;
    // Nothing is dialled before all users know, or one would get the next link first.
    this.#isDropping = true;
    for (const place of this.#users.list()) if (place.isTaken) place.value.down(generation);
    this.#isDropping = false;
    this.#retry();
  }

  #retry(): void {
    if (this.#state.kind !== "idle" || this.#stopRetry !== undefined || !this.#isWanted()) return;
    this.#stopRetry = this.#setting.clock.after(this.#backoff.next(), () => {
      this.#stopRetry = undefined;
      if (this.#state.kind === "idle" && this.#isWanted()) this.#dial();
    });
  }

  #isWanted(): boolean {
    return this.#users.list().some(({ value }) => value.wants);
  }

  #remove(user: ConnectionUser<TLink>): boolean {
    const { place } = user;
    user.place = undefined;
    return place !== undefined && this.#users.remove(place);
  }

  /** Without users, ends the attempt and its timer, and lets the link become idle. */
  #letGoOfUnused(): void {
    if (this.#users.size === 0) this.#closeLeaving();
    if (this.#state.kind === "live") return this.#users.size === 0 ? this.#expectIdle() : undefined;
    if (this.#state.kind === "closed" || this.#isWanted()) return;
    this.#stopRetry?.();
    this.#stopRetry = undefined;
    const former = this.#state;
    if (former.kind !== "dialing" || former.abandon === undefined) return;
    this.#generation += 1;
    this.#state = { kind: "idle" };
    this.#release(former);
  }

  /** Starts the idle time. One timer serves many short uses. */
  #expectIdle(): void {
    const { clock, idleMs } = this.#setting;
    if (idleMs === 0) return this.#closeIdle();
    this.#idleSince = clock.now();
    this.#stopIdle ??= clock.after(idleMs, () => this.#onIdleTimer());
  }

  #onIdleTimer(): void {
    this.#stopIdle = undefined;
    if (this.#state.kind !== "live" || this.#users.size > 0) return;
    const { clock, idleMs } = this.#setting;
    // A clock that was set back must not keep the link longer.
    this.#idleSince = Math.min(this.#idleSince, clock.now());
    const left = idleMs - (clock.now() - this.#idleSince);
    if (left <= 0) this.#closeIdle();
    else this.#stopIdle = clock.after(left, () => this.#onIdleTimer());
  }

  #closeIdle(): void {
    const former = this.#state;
    if (former.kind !== "live") return;
    this.#generation += 1;
    this.#state = { kind: "idle" };
    former.link.close();
  }

  #createClosed(): SurfaceError {
    return new SurfaceError("CLOSED", `Using ${this.#setting.what}: the connection is closed`);
  }
}
