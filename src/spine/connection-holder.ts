import { SurfaceError } from "../errors.ts";
import { Backoff } from "./backoff.ts";
import type { Clock, Random } from "./clock.ts";
import type { Dial, HeldLink } from "./dial.ts";
import type { HolderUser } from "./holder-user.ts";
import { Places } from "./in-flight.ts";

/** What a holder is made of. Times are in milliseconds. */
export interface HolderSetting<TLink extends HeldLink> {
  /** Names the far side in errors, for example `surface "ci"`. */
  readonly what: string;
  readonly dial: Dial<TLink>;
  readonly clock: Clock;
  readonly random: Random;
  /** How long a link that nobody uses is kept. 0: not at all. */
  readonly idleMs: number;
}

/** How long one attempt may take. */
export const dialTimeoutMs = 10_000;

/** Delays between attempts: an application that restarts is back within a tenth of a second, or takes its time. */
export const redial = { baseMs: 25, capMs: 1000, stableMs: 5000 } as const;

/** How often, and how long, links that were born dead are dialled again before anybody is told. */
const bornDead = { times: 3, withinMs: 10_000 } as const;

type State<TLink> =
  | { readonly kind: "idle" }
  | { readonly kind: "dialing"; readonly generation: number; abandon?: () => void; readonly stopTimer: () => void }
  | { readonly kind: "live"; readonly generation: number; readonly link: TLink }
  | { readonly kind: "closed" };

/**
 * Owns the one link to a far side: dials when somebody needs it, shares it, drops it at once when it says that it is
 * going, redials while somebody waits, and closes it when nobody has used it for a while.
 *
 * Everything here is synchronous, so that every step can be checked. Each attempt has a generation; what is told of any
 * but the present one changes nothing, except that a link which opens too late is closed.
 */
export class ConnectionHolder<TLink extends HeldLink> {
  readonly #setting: HolderSetting<TLink>;
  readonly #users = new Places<HolderUser<TLink>>();
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

  constructor(setting: HolderSetting<TLink>) {
    this.#setting = setting;
    this.#backoff = new Backoff({ ...redial, clock: setting.clock, random: setting.random });
  }

  /** The link there is now. */
  get current(): { readonly link: TLink; readonly generation: number } | undefined {
    return this.#state.kind === "live" ? this.#state : undefined;
  }

  /** Grows with every attempt, and with the end of every attempt and link. */
  get generation(): number {
    return this.#generation;
  }

  /** Why the last attempt failed; `undefined` while there is a link. */
  get lastFailure(): unknown {
    return this.#lastFailure?.cause;
  }

  /** Adds a user, who is told {@link HolderUser.live} at once where there is a link. Returns what lets it go. */
  join(user: HolderUser<TLink>): () => void {
    if (this.#state.kind === "closed") {
      user.unreachable(this.#createClosed());
      return () => {};
    }
    user.place ??= this.#users.add(user);
    if (this.#state.kind === "live") user.live(this.#state.link, this.#state.generation);
    else if (this.#state.kind === "idle" && !this.#isDropping) this.#want(user);
    return () => {
      if (this.#remove(user)) this.#letGoOfUnused();
    };
  }

  /** Lets go of the link and of every user, who are told. No link is dialled after it. Callable twice. */
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

  /** Somebody new needs a link, and there is none under way. */
  #want(user: HolderUser<TLink>): void {
    if (this.#stopRetry === undefined) return this.#dial();
    const failure = this.#lastFailure;
    if (user.isPatient(failure?.cause)) return;
    // Somebody waits for the next attempt already. One who does not wait is worth an attempt of its own, but not many.
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
    // Told within dial() itself: a link that is there is ours to close, anything else is given up here.
    if (this.#state !== state) return this.#isForeign(generation) ? abandon() : undefined;
    state.abandon = abandon;
    // Whoever wanted it may have left within dial(), when there was nothing yet to abandon it by.
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
    this.#state = { kind: "live", generation, link };
    this.#lastFailure = undefined;
    this.#backoff.up();
    for (const place of this.#users.list()) {
      if (this.#generation !== generation) return;
      if (place.isTaken) place.value.live(link, generation);
    }
    if (this.#generation === generation && this.#users.size === 0) this.#expectIdle();
  }

  #onFailed(generation: number, cause: unknown): void {
    const state = this.#state;
    if (state.kind !== "dialing" || state.generation !== generation) return;
    state.stopTimer();
    this.#bornDead = undefined;
    this.#fail(cause);
  }

  /** The present attempt has come to nothing: the next one has another generation, and begins when this one is over. */
  #fail(cause: unknown, abandon?: () => void): void {
    this.#generation += 1;
    this.#state = { kind: "idle" };
    this.#lastFailure = { cause, at: this.#setting.clock.now() };
    const places = this.#users.list();
    abandon?.();
    for (const { value: user } of places) if (user.wants && !user.isPatient(cause)) this.#letGo(user, cause);
    // One who was told may have begun another attempt, for somebody who was let go of after that.
    this.#letGoOfUnused();
    this.#retry();
  }

  #letGo(user: HolderUser<TLink>, cause: unknown): void {
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

  /** The link takes no new use: whoever needs one gets the next. */
  #drop(generation: number): void {
    // The generation first, so that whatever the teardown below sets off is known to be late.
    this.#generation += 1;
    this.#state = { kind: "idle" };
    this.#bornDead = undefined;
    this.#stopIdle?.();
    this.#stopIdle = undefined;
    // Nothing is dialled before all of them know, or else one would hear of the next link first.
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

  #remove(user: HolderUser<TLink>): boolean {
    const { place } = user;
    user.place = undefined;
    return place !== undefined && this.#users.remove(place);
  }

  /** Keeps nothing for nobody: neither a link, nor an attempt, nor a timer for one. */
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

  /** Nobody uses the link. One timer looks after many short uses: it is not set anew for each. */
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
    // A clock that was set back does not keep it longer.
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
