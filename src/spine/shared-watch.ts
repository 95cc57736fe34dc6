import { Backoff } from "./backoff.ts";
import type { Clock, Random } from "./clock.ts";
import type { ConnectionHolder } from "./connection-holder.ts";
import type { HeldLink } from "./dial.ts";
import type { HolderUser } from "./holder-user.ts";
import { noticeBurst, Throttle } from "./throttle.ts";

/** What an open stream tells. May be told synchronously, or after it was stopped. */
export interface WatchEvents<TValue> {
  /** The first after opening is the snapshot, each further one a change. */
  value(value: TValue): void;
  /** It has ended by itself: there is nothing more to come. */
  ended(): void;
  /** It has failed. `lasting`: opening it again would fail again; `wasThere`: not because there never was anything. */
  failed(lasting: boolean, wasThere?: boolean): void;
}

/** Something that can be watched over a link. */
export interface Watched<TLink, TValue> {
  /** Those with the same key share one stream. */
  readonly key: string;
  /** Milliseconds until one more notification may follow a burst. */
  readonly windowMs: number;
  /** Opens its stream; returns what stops it, callable twice. Must not throw. */
  open(link: TLink, events: WatchEvents<TValue>): () => void;
}

/** Somebody who watches. Must not throw. */
export interface Watcher {
  /** Announces a change: up to {@link noticeBurst} at once after rest, then one a window, always one after the last change. */
  changed?(): void;
  /** Something is known of it that was not before: every value and every failure, as it comes, and its end. */
  moved?(): void;
}

/** What a watch needs besides what it watches. */
export interface WatchSetting<TLink extends HeldLink> {
  readonly holder: ConnectionHolder<TLink>;
  readonly clock: Clock;
  readonly random: Random;
  /** Told when the last watcher has left, before anything is torn down: none may be added after it. */
  emptied?(): void;
}

/** Delays between attempts to open one stream that failed by itself, in milliseconds. */
export const reopen = { baseMs: 100, capMs: 5000, stableMs: 5000 } as const;

/** A first link that takes longer to come may be too late for who read meanwhile: requests wait longer, but not for ever. */
const promptMs = 1000;

/** One watcher's part in a watch. Call {@link end} when done. */
export interface Subscription {
  /** Grows with every change; comparable only from the first watcher of its key to the last. */
  readonly version: number;
  /** Ends it: the watcher is called no more. Callable twice. */
  end(): void;
}

/** The part of {@link SharedWatch} that a subscription uses. */
interface Joinable {
  readonly version: number;
  remove(joined: Joined): void;
}

class Joined implements Subscription {
  readonly watcher: Watcher;
  readonly #watch: Joinable;
  /** The version that the watcher knows of. */
  seen = 0;
  /** Whether the watcher is called: not before it knows that it has joined. */
  isTold = false;

  constructor(watch: Joinable, watcher: Watcher) {
    this.#watch = watch;
    this.watcher = watcher;
  }

  get version(): number {
    return this.#watch.version;
  }

  end(): void {
    this.#watch.remove(this);
  }
}

function nothing(): void {}

/**
 * One upstream stream, shared by all who watch one thing: opened with the first watcher, stopped with the last, opened
 * again on every new link and, where it failed by itself, after a while. It holds the newest value and a version; there
 * is no queue.
 */
export class SharedWatch<TLink extends HeldLink, TValue> implements HolderUser<TLink> {
  readonly #watched: Watched<TLink, TValue>;
  readonly #setting: WatchSetting<TLink>;
  readonly #joined = new Set<Joined>();
  readonly #backoff: Backoff;
  readonly #throttle: Throttle;
  /** Names the stream that is open: what any other one tells changes nothing. */
  #token = 0;
  #stop: (() => void) | undefined;
  #stopRetry: (() => void) | undefined;
  #leave: (() => void) | undefined;
  #latest: { readonly value: TValue } | undefined;
  #version = 0;
  /** Whether changes may have gone by unseen, so that the next snapshot is news. */
  #isMissing = false;
  /** The generation of the first attempt that could have served it; a later one means that some have failed. */
  #firstGeneration = 0;
  #firstAt = 0;
  /** Whether the last that is known is a failure. */
  #isFailing = false;

  constructor(watched: Watched<TLink, TValue>, setting: WatchSetting<TLink>) {
    this.#watched = watched;
    this.#setting = setting;
    this.#backoff = new Backoff({ ...reopen, clock: setting.clock, random: setting.random });
    this.#throttle = new Throttle({
      clock: setting.clock,
      windowMs: watched.windowMs,
      burst: noticeBurst,
      fire: () => this.#notify(),
    });
  }

  /** It needs a link for as long as it is watched. */
  get wants(): boolean {
    return this.#joined.size > 0;
  }

  /** It waits for as long as it is watched. */
  isPatient(): boolean {
    return true;
  }

  /** The newest value, where it is known to be the newest. */
  get latest(): { readonly value: TValue } | undefined {
    return this.#latest;
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }

  /** Adds a watcher, which is called from when this has returned, and finds in {@link latest} what came before. */
  add(watcher: Watcher): Subscription {
    const joined = new Joined(this, watcher);
    this.#joined.add(joined);
    if (this.#leave === undefined) {
      // Marked first: join() may tell of a link, and of everything behind it, before it returns.
      this.#leave = nothing;
      this.#firstGeneration = this.#setting.holder.generation + 1;
      this.#firstAt = this.#setting.clock.now();
      const leave = this.#setting.holder.join(this);
      if (this.#joined.size === 0) leave();
      else this.#leave = leave;
    }
    joined.seen = this.#version;
    joined.isTold = true;
    return joined;
  }

  live(link: TLink, generation: number): void {
    // Whoever read meanwhile may have been told that it cannot be reached, or has read over a link that is gone.
    if (generation > this.#firstGeneration || !this.#isPrompt()) this.#isMissing = true;
    this.#open(link);
  }

  #isPrompt(): boolean {
    const waited = this.#setting.clock.now() - this.#firstAt;
    return waited >= 0 && waited < promptMs;
  }

  down(): void {
    this.#latest = undefined;
    this.#shut();
  }

  ended(): void {
    // down() came first.
  }

  unreachable(): void {
    // The holder was closed, which ends every watch.
    this.#joined.clear();
    this.#tearDown();
  }

  /** Removes a watcher: {@link Subscription.end} calls it. */
  remove(joined: Joined): void {
    if (this.#joined.delete(joined) && this.#joined.size === 0) this.#tearDown();
  }

  #tearDown(): void {
    this.#setting.emptied?.();
    this.#throttle.dispose();
    this.#latest = undefined;
    this.#shut();
    this.#leave?.();
  }

  /** Stops the stream and whatever would open another. */
  #shut(): void {
    // The token first, so that what stopping it sets off is known to be late.
    this.#token += 1;
    this.#stopRetry?.();
    this.#stopRetry = undefined;
    const stop = this.#stop;
    this.#stop = undefined;
    stop?.();
  }

  #open(link: TLink): void {
    this.#token += 1;
    const token = this.#token;
    let isSnapshot = true;
    const ifCurrent = (tell: () => void): void => {
      if (token === this.#token) tell();
    };
    // Marked as open before it is: it may tell everything before it returns.
    this.#stop = nothing;
    const stop = this.#watched.open(link, {
      value: (value) =>
        ifCurrent(() => {
          const isNews = !isSnapshot || this.#isMissing;
          isSnapshot = false;
          this.#onValue(value, isNews);
        }),
      ended: () => ifCurrent(() => this.#onEnded()),
      failed: (lasting) => ifCurrent(() => this.#onFailed(lasting)),
    });
    if (token === this.#token) this.#stop = stop;
    else stop();
  }

  #onValue(value: TValue, isNews: boolean): void {
    if (this.#latest === undefined) this.#backoff.up();
    this.#latest = { value };
    this.#isMissing = false;
    this.#isFailing = false;
    if (isNews) this.#version += 1;
    this.#move();
    if (isNews) this.#touch();
  }

  #onEnded(): void {
    // Not opened again on this link: what has ended has said what there is. Its last value stays the newest.
    this.#token += 1;
    this.#stop = undefined;
    // Whoever waits for the first value need not wait any longer.
    this.#move();
  }

  #onFailed(lasting: boolean): void {
    this.#token += 1;
    this.#stop = undefined;
    this.#latest = undefined;
    this.#isMissing = true;
    if (!lasting) {
      this.#stopRetry = this.#setting.clock.after(this.#backoff.next(), () => {
        this.#stopRetry = undefined;
        const current = this.#setting.holder.current;
        if (current !== undefined) this.#open(current.link);
      });
    }
    // That it fails is news once, and not with every attempt.
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#version += 1;
    this.#move();
    this.#touch();
  }

  #touch(): void {
    // A notice for nobody would only make the next one wait.
    const isBehind = (joined: Joined): boolean => joined.isTold && joined.seen < this.#version;
    for (const joined of this.#joined) if (isBehind(joined)) return this.#throttle.touch();
  }

  #move(): void {
    for (const joined of [...this.#joined]) if (joined.isTold && this.#joined.has(joined)) joined.watcher.moved?.();
  }

  #notify(): void {
    const version = this.#version;
    for (const joined of [...this.#joined]) {
      if (!joined.isTold || !this.#joined.has(joined) || joined.seen >= version) continue;
      joined.seen = version;
      joined.watcher.changed?.();
    }
  }
}
