import { randomBytes } from "node:crypto";
import type { OpenedLink } from "../links/dial-link.ts";
import type { Clock, Random } from "../spine/clock.ts";
import { ConnectionHolder } from "../spine/connection-holder.ts";
import type { Dial, HeldLink } from "../spine/dial.ts";
import type { Subscription, WatchEvents, Watcher } from "../spine/shared-watch.ts";
import { Subscriptions } from "../spine/subscriptions.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { Caller } from "../surface/caller.ts";
import type { EntryCall, ReadResult, ResourceContent, ResourceEntry, ResourceWatch } from "./entry.ts";
import { visibleKey } from "../surface/caller-key.ts";
import type { Resolved, UriResolver } from "./resolve-uri.ts";
import { maxWatched, WatchRoom } from "./watch-room.ts";
import { WatchedResource, type ChangeCount } from "./watched-resource.ts";

/** Milliseconds until the read of a watcher who joins others is aborted. The watcher has joined then in any case. */
const maxRefreshMs = 10_000;

/** What {@link ResourceWatches} are made of. */
export interface ResourceWatchesSetting {
  readonly resolve: UriResolver;
  readonly subscriptions: Subscriptions<OpenedLink, unknown>;
  /** Milliseconds until one more notification may follow a burst, unless the resource has its own. */
  readonly windowMs: number;
  /** Default: this machine's. */
  readonly clock?: Clock;
  /** Default: `Math.random`. */
  readonly random?: Random;
}

/** What somebody wants to watch. */
export interface Wanted {
  readonly uri: string;
  /** What the URI has resolved to. */
  readonly resolved: Resolved;
  readonly caller: Caller;
}

/** What a watcher is told. */
export interface WatchTold {
  /** Announces a change, as the throttle of the resource allows. */
  changed(): void;
  /** Told once, maybe at once: from then on no change is missed; `false` where nothing can be under the URI. */
  opened?: ((isThere: boolean) => void) | undefined;
}

/** One watcher's part in a resource that is watched. Call {@link end} when done. */
export interface Watching {
  readonly resource: WatchedResource;
  /**
   * Reads the source of a resource that others watched before: a poll could otherwise miss a change that this watcher knows
   * of. Resolves when the source has answered, and never rejects. `undefined` if no read is needed. Call it once.
   */
  refresh(): Promise<void> | undefined;
  /** Ends it: nothing is told after this. Callable twice. */
  end(): void;
}

/** State of a {@link Watching}. */
interface Part {
  isOver: boolean;
  stopRefresh: (() => void) | undefined;
}

/** Tells a watcher of changes, and once, after the read that joining others takes, that it misses none from then on. */
class ToldWatcher implements Watcher {
  readonly #told: WatchTold;
  #watching: Watching | undefined;
  #isOpen = false;

  constructor(told: WatchTold) {
    this.#told = told;
  }

  /** Sets what it watches. Another watcher may have opened it before. */
  joined(watching: Watching): () => void {
    this.#watching = watching;
    this.moved();
    return () => {
      this.#watching = undefined;
      watching.end();
    };
  }

  changed(): void {
    this.#told.changed();
  }

  moved(): void {
    const watching = this.#watching;
    const isThere = watching?.resource.isThere;
    if (this.#isOpen || isThere === undefined) return;
    this.#isOpen = true;
    const refreshed = isThere ? watching?.refresh() : undefined;
    if (refreshed === undefined) this.#told.opened?.(isThere);
    else void refreshed.then(() => this.#watching && this.#told.opened?.(isThere));
  }
}

/** What stands where a link would be, for what needs none. */
const here: HeldLink = Object.freeze({ close() {} });

/** What is watched without a link: opened again where it failed, as everything else is. */
function createLocal({ clock = systemClock, random = Math.random }: ResourceWatchesSetting): LocalSubscriptions {
  const dial: Dial<HeldLink> = (events) => {
    events.opened(here);
    return () => {};
  };
  const holder = new ConnectionHolder({ what: "what this process has itself", dial, clock, random, idleMs: 0 });
  return { holder, subscriptions: new Subscriptions({ holder, clock, random }) };
}

interface LocalSubscriptions {
  readonly holder: ConnectionHolder<HeldLink>;
  readonly subscriptions: Subscriptions<HeldLink, unknown>;
}

interface Followed {
  readonly key: string;
  readonly windowMs: number;
  readonly resource: WatchedResource;
}

interface Shared {
  /** Of which entry it is. */
  readonly id: string;
  readonly resource: WatchedResource;
  watchers: number;
}

/** What the face itself has may be another value for each caller: theirs is kept apart. No URI begins like this. */
function ownKeyOf(uri: string, caller: Caller): string {
  return `[${visibleKey(caller)},${uri}`;
}

function keyOf({ uri, caller }: Wanted, watch: ResourceWatch): string {
  return "followHere" in watch ? ownKeyOf(uri, caller) : uri;
}

/** Where an entry is kept while another one, that somebody else is shown under the same URI, stands in its place. */
function besideOf(key: string, id: string): string {
  return `[${JSON.stringify(id)}${key}`;
}

/**
 * The resources of an app that are watched: one upstream watch a URI, whoever and however many watch it, and one a caller of
 * what the face itself has. While one in another process is watched and its newest value is known, reads take no round trip.
 */
export class ResourceWatches {
  readonly #setting: ResourceWatchesSetting;
  readonly #clock: Clock;
  readonly #local: LocalSubscriptions;
  readonly #shared = new Map<string, Shared>();
  readonly #room = new WatchRoom();
  readonly #reserved = new Set<string>();
  /**
   * The calls that may have changed something. A value that was seen before the last of them may be older than what its caller
   * knows, so the next read takes a round trip.
   */
  readonly changes: ChangeCount = { count: 0 };
  /** Tells the epochs of this process from those of another. */
  readonly #process = randomBytes(6).toString("base64url");
  #epochs = 0;

  constructor(setting: ResourceWatchesSetting) {
    this.#setting = setting;
    this.#clock = setting.clock ?? systemClock;
    this.#local = createLocal(setting);
  }

  /** Ends every watch that needs no link; the others end with the link. Callable twice. */
  close(): void {
    this.#local.holder.close();
  }

  /** How many resources are watched. */
  get size(): number {
    return this.#shared.size;
  }

  /** How many callers who are known watch anything. */
  get callers(): number {
    return this.#room.size;
  }

  /** Keeps room for what the app watches for itself, which nobody else can take then. */
  reserve(uri: string): void {
    this.#reserved.add(uri);
  }

  /** Whether a caller may watch these besides what is watched. Whoever watches for a caller asks first. */
  hasRoom(uris: Iterable<string>, caller: Caller): boolean {
    const keys = Array.from(uris, (uri) => ({ uri, key: this.#findKey(uri, caller) }));
    let size = this.#shared.size;
    for (const uri of this.#reserved) if (!this.#shared.has(uri)) size += 1;
    for (const { uri, key } of keys) if (key === undefined && !this.#reserved.has(uri)) size += 1;
    const known = keys.map(({ key }) => key);
    return size <= maxWatched && this.#room.hasRoom(caller, known);
  }

  /**
   * Finds the resource of a URI. Reading it answers from the newest value of its watch where that came over a link to
   * another process within the last second.
   *
   * @param resolve - of which it is one. Default: all that there are.
   */
  resolve(uri: string, resolve: UriResolver = this.#setting.resolve): Resolved | undefined {
    const resolved = resolve(uri);
    if (resolved === undefined || this.#shared.size === 0) return resolved;
    return {
      id: resolved.id,
      scopes: resolved.scopes,
      requires: resolved.requires,
      // As there: made only where somebody watches.
      get watch() {
        return resolved.watch;
      },
      read: (call) => this.#read(uri, resolved, call),
    };
  }

  /**
   * What is under a URI that is watched and the same for all callers, where its newest value is known; maybe from before a
   * call that has ended.
   */
  known({ uri, id }: Pick<ResourceEntry, "uri" | "id">): ResourceContent | undefined {
    const key = this.#placeOf(uri, id);
    const latest = this.#latest(key);
    return latest === undefined ? undefined : this.#shared.get(key)?.resource.write(latest.value)?.content;
  }

  /** Whether somebody who watches something knows that there is nothing under its URI now. */
  isAbsent(wanted: Wanted): boolean {
    const key = this.#placeOf(keyOf(wanted, wanted.resolved.watch), wanted.resolved.id);
    const latest = this.#latest(key);
    const written = latest && this.#shared.get(key)?.resource.write(latest.value);
    return written !== undefined && written.content === undefined;
  }

  /** Watches the resource of a URI. Nothing is told of the snapshot that watching opens with. Returns a function that ends it. */
  watch(wanted: Wanted, told: WatchTold): () => void {
    const watcher = new ToldWatcher(told);
    return watcher.joined(this.join(wanted, watcher));
  }

  /** Joins in watching what a URI has resolved to. Works, and waits, also while there is no backend. */
  join(wanted: Wanted, watcher: Watcher): Watching {
    const { caller, resolved } = wanted;
    const { watch } = resolved;
    const key = this.#placeOf(keyOf(wanted, watch), resolved.id);
    const known = this.#shared.get(key);
    const shared = known ?? this.#share(key, wanted, watch);
    shared.watchers += 1;
    const giveBack = this.#room.take(caller, key);
    const { resource } = shared;
    const windowMs = watch.windowMs ?? this.#setting.windowMs;
    const subscription = this.#subscribe({ key, windowMs, resource }, watcher, watch);
    const part: Part = { isOver: false, stopRefresh: undefined };
    return {
      resource,
      refresh: () => (known === undefined || !resource.canRefresh ? undefined : this.#refresh(resource, part)),
      end: () => {
        if (part.isOver) return;
        part.isOver = true;
        part.stopRefresh?.();
        subscription.end();
        giveBack();
        shared.watchers -= 1;
        if (shared.watchers === 0) this.#shared.delete(key);
      },
    };
  }

  /** Ignores a failure: readers get it, and the watch goes on. */
  async #refresh(resource: WatchedResource, part: Part): Promise<void> {
    const abort = new AbortController();
    const stopTimer = this.#clock.after(maxRefreshMs, () => abort.abort());
    const stopRefresh = (): void => abort.abort();
    part.stopRefresh = stopRefresh;
    try {
      await resource.refresh(abort.signal);
    } catch {
      // The next read of the resource fails in the same way.
    } finally {
      stopTimer();
      part.stopRefresh = undefined;
    }
  }

  #subscribe({ key, windowMs, resource }: Followed, watcher: Watcher, watch: ResourceWatch): Subscription {
    if ("followHere" in watch) {
      const open = (_here: HeldLink, events: WatchEvents<unknown>): (() => void) => resource.open(undefined, events);
      return this.#local.subscriptions.subscribe({ key, windowMs, open }, watcher);
    }
    return this.#setting.subscriptions.subscribe({ key, windowMs, open: resource.open.bind(resource) }, watcher);
  }

  /** Under what a caller finds a URI that is watched, whatever it names for others; `undefined` where it is not. */
  #findKey(uri: string, caller: Caller, id?: string): string | undefined {
    const places = [uri, ownKeyOf(uri, caller)];
    if (id === undefined) return places.find((place) => this.#shared.has(place));
    return places.map((place) => this.#placeOf(place, id)).find((place) => this.#shared.has(place));
  }

  /** Where an entry is kept: views differ in what they show under one URI. */
  #placeOf(key: string, id: string): string {
    const shared = this.#shared.get(key);
    return shared === undefined || shared.id === id ? key : besideOf(key, id);
  }

  #latest(key: string): { readonly value: unknown } | undefined {
    return this.#setting.subscriptions.latest(key) ?? this.#local.subscriptions.latest(key);
  }

  #share(key: string, { resolved, caller }: Wanted, watch: ResourceWatch): Shared {
    this.#epochs += 1;
    const epoch = `${this.#process}${this.#epochs.toString(36)}`;
    const resource = new WatchedResource({ watch, caller, epoch, changes: this.changes, clock: this.#clock });
    const shared: Shared = { id: resolved.id, resource, watchers: 0 };
    this.#shared.set(key, shared);
    return shared;
  }

  #read(uri: string, resolved: Resolved, call: EntryCall): ReadResult {
    // By who reads, and not by who resolved: nobody is answered with what is somebody else's.
    const key = this.#findKey(uri, call.caller, resolved.id);
    const resource = key === undefined ? undefined : this.#shared.get(key)?.resource;
    if (key === undefined || resource?.isRemote !== true) return resolved.read(call);
    const latest = this.#latest(key);
    if (latest !== undefined && resource.seenAfter === this.changes.count && resource.isRecent) {
      const written = resource.write(latest.value);
      if (written !== undefined) return written.content;
    }
    return this.#compare(key, resource, resolved.read(call));
  }

  /** Compares what a read of a watched resource finds with the newest value that the watch has seen. */
  async #compare(key: string, resource: WatchedResource, reading: ReadResult): Promise<ResourceContent | undefined> {
    const [changes, begunAt] = [this.changes.count, this.#clock.now()];
    const content = await reading;
    resource.compare(content, { latest: this.#latest(key), changes, begunAt });
    return content;
  }
}
