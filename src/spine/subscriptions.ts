import { Backoff } from "./backoff.ts";
import type { Clock, Random } from "./clock.ts";
import type { ConnectionManager, HeldLink, ConnectionUser } from "./connection-manager.ts";
import { noticesAtOnce, Throttle } from "./throttle.ts";

/** Callbacks of an open stream. May be called synchronously, or after it was stopped. */
export interface WatchEvents<TValue> {
  /** Receives the snapshot, then each change. */
  value(value: TValue): void;
  ended(): void;
  /** @param lasting - opening it again would fail too. @param wasThere - it failed although there had been something. */
  failed(lasting: boolean, wasThere?: boolean): void;
}

/** A thing to watch over a link. */
export interface Watched<TLink, TValue> {
  /** Watches with the same key share one stream. */
  readonly key: string;
  /** Milliseconds until one more notification may follow a burst. */
  readonly windowMs: number;
  /** Opens its stream, and returns a function that stops it, callable twice. Must not throw. */
  open(link: TLink, events: WatchEvents<TValue>): () => void;
}

/** Callbacks of a watcher. They must not throw. */
export interface Watcher {
  /** Announces a change: up to {@link noticesAtOnce} at once after rest, then one a window, always one after the last change. */
  changed?(): void;
  /** Called for every value, every failure, and the end. */
  moved?(): void;
}

/** Dependencies of watches. */
export interface SharedWatchDeps<TLink extends HeldLink> {
  readonly holder: ConnectionManager<TLink>;
  readonly clock: Clock;
  readonly random: Random;
  /** Called when the last watcher has left, before the teardown. No watcher may be added after it. */
  emptied?(): void;
}

/** Delays between attempts to open one stream that failed by itself, in milliseconds. */
export const reopen = { baseMs: 100, capMs: 5000, stableMs: 5000 } as const;

/** Milliseconds after which a read may have failed for want of a first link, so that the snapshot is news. */
const promptMs = 1000;

/** The part of one watcher. Call {@link end} when done. */
export interface Subscription {
  /** Grows with every change, from the first watcher of its key to the last. */
  readonly version: number;
  /**
   * Opens the stream again, for a source that may have changed without an announcement. The new snapshot is not announced, and does not
   * count as a change. Does nothing while no stream is open.
   */
  reopen(): void;
  /** Counts a change that the stream did not report, and announces it to all watchers of the key. */
  announce(): void;
  /** Ends it: the watcher is not called any more. Callable twice. */
  end(): void;
}

type JoinedWatch = Pick<SharedWatch<HeldLink, unknown>, "version" | "reopen" | "announce" | "remove">;

class Joined implements Subscription {
  readonly watcher: Watcher;
  readonly #watch: JoinedWatch;
  /** The version that the watcher knows of. */
  seen = 0;
  /** Whether the watcher is called: not before it knows that it has joined. */
  isTold = false;

  constructor(watch: JoinedWatch, watcher: Watcher) {
    this.#watch = watch;
    this.watcher = watcher;
  }

  get version(): number {
    return this.#watch.version;
  }

  reopen(): void {
    this.#watch.reopen();
  }

  announce(): void {
    this.#watch.announce();
  }

  end(): void {
    this.#watch.remove(this);
  }
}

function nothing(): void {}

/**
 * One upstream stream, shared by all watchers of a key: opened with the first, stopped with the last, opened again on every new link and,
 * after a failure, with a delay. It holds the newest value and a version; there is no queue.
 */
class SharedWatch<TLink extends HeldLink, TValue> implements ConnectionUser<TLink> {
  readonly #watched: Watched<TLink, TValue>;
  readonly #setting: SharedWatchDeps<TLink>;
  readonly #joined = new Set<Joined>();
  readonly #backoff: Backoff;
  readonly #throttle: Throttle;
  /** Identifies the open stream. Callbacks of another one change nothing. */
  #token = 0;
  #stop: (() => void) | undefined;
  #stopRetry: (() => void) | undefined;
  #leave: (() => void) | undefined;
  #latest: { readonly value: TValue } | undefined;
  #version = 0;
  /** Whether changes may have been missed, so that the next snapshot is news. */
  #isMissing = false;
  /** The generation of the first attempt since it began. A later one means that an attempt has failed. */
  #firstGeneration = 0;
  #firstAt = 0;
  /** Whether a failure is the newest that is known. */
  #isFailing = false;

  constructor(watched: Watched<TLink, TValue>, setting: SharedWatchDeps<TLink>) {
    this.#watched = watched;
    this.#setting = setting;
    this.#backoff = new Backoff({ ...reopen, clock: setting.clock, random: setting.random });
    this.#throttle = new Throttle({
      clock: setting.clock,
      windowMs: watched.windowMs,
      burst: noticesAtOnce,
      fire: () => this.#notify(),
    });
  }

  get wants(): boolean {
    return this.#joined.size > 0;
  }

  isPatient(): boolean {
    return true;
  }

  /** The value, if it is known to be the newest. */
  get latest(): { readonly value: TValue } | undefined {
    return this.#latest;
  }

  get version(): number {
    return this.#version;
  }

  /** Adds a watcher, which is called from when this has returned. {@link latest} is what came before. */
  add(watcher: Watcher): Subscription {
    const joined = new Joined(this, watcher);
    this.#joined.add(joined);
    if (this.#leave === undefined) {
      // Marked first: join() may call back before it returns.
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
    // A read may have failed meanwhile, or have used a link that is gone.
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
    this.#joined.clear();
    this.#tearDown();
  }

  /** See {@link Subscription.reopen}. A stream that has failed is opened again in any case. */
  reopen(): void {
    if (this.#stop === undefined) return;
    this.#latest = undefined;
    this.#shut();
    const { current } = this.#setting.holder;
    // Stopping the stream may have ended the watch, or opened it on another link.
    if (this.wants && this.#stop === undefined && current !== undefined) this.#open(current.link);
  }

  /** See {@link Subscription.announce}. */
  announce(): void {
    this.#version += 1;
    this.#move();
    this.#touch();
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

  #shut(): void {
    // First, so that callbacks of the stop are known to be late.
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
    // Marked first: open() may call back before it returns.
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
    // Not opened again on this link: the last value stays the newest.
    this.#token += 1;
    this.#stop = undefined;
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
    // A failure is news once, and not with every attempt.
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#version += 1;
    this.#move();
    this.#touch();
  }

  #touch(): void {
    // A notice without a watcher that lacks it would only delay the next one.
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

/** The watches over one link: one stream a key. */
export class Subscriptions<TLink extends HeldLink, TValue> {
  readonly #setting: SharedWatchDeps<TLink>;
  readonly #watches = new Map<string, SharedWatch<TLink, TValue>>();

  constructor(setting: SharedWatchDeps<TLink>) {
    this.#setting = setting;
  }

  /** Number of watched keys. */
  get size(): number {
    return this.#watches.size;
  }

  /** Returns the value of a watched key, if it is known to be the newest. */
  latest(key: string): { readonly value: TValue } | undefined {
    return this.#watches.get(key)?.latest;
  }

  /** Watches. Works, and waits, also while there is no link. The snapshot is not announced. */
  subscribe(watched: Watched<TLink, TValue>, watcher: Watcher): Subscription {
    return this.#watchOf(watched).add(watcher);
  }

  #watchOf(watched: Watched<TLink, TValue>): SharedWatch<TLink, TValue> {
    const { key } = watched;
    const known = this.#watches.get(key);
    if (known !== undefined) return known;
    // Removed before the teardown, so that a watcher that comes within it gets a new watch.
    const emptied = (): void => void this.#watches.delete(key);
    const watch = new SharedWatch(watched, { ...this.#setting, emptied });
    this.#watches.set(key, watch);
    return watch;
  }
}
