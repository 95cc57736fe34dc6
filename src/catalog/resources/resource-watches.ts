import { randomBytes } from "node:crypto";
import type { Cluster } from "../../cluster/cluster.ts";
import type { OpenedLink } from "../../links/dial-link.ts";
import type { Clock, Random } from "../../spine/clock.ts";
import { ConnectionManager, type HeldLink } from "../../spine/connection-manager.ts";
import { type Subscription, Subscriptions, type Watcher, type WatchEvents } from "../../spine/subscriptions.ts";
import { anonymous, callerKey, visibleKey, type Caller } from "../../surface/caller.ts";
import { Stale } from "../../surface/reading.ts";
import { systemClock } from "../../surface/system-clock.ts";
import type { EntryCall, ReadResult, ResourceContent, ResourceEntry, ResourceWatch } from "../entry.ts";
import type { Resolved, UriResolver } from "../resolve-uri.ts";
import { SharedChanges } from "./shared-changes.ts";
import type { SharedWatchHandle } from "./shared-resource.ts";
import {
  AnnouncingWatcher,
  WatchedResource,
  type ChangeCount,
  type WatchHandle,
  type WatchListener,
  type WrittenContent,
} from "./watched-resource.ts";

/** Milliseconds until the read of a watcher that joins others is aborted. The watcher has joined then in any case. */
const maxRefreshMs = 10_000;

/** Resources of an app that callers may watch: fewer than a link carries at once. */
const maxWatched = 2048;

/** Resources that one known caller may watch. */
const maxForOne = maxWatched / 4;

/** Dependencies of {@link ResourceWatches}. */
export interface ResourceWatchesDeps {
  readonly resolve: UriResolver;
  readonly subscriptions: Subscriptions<OpenedLink, unknown>;
  /** Milliseconds until one more notification may follow a burst, unless the resource has its own. */
  readonly windowMs: number;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A resource that a caller watches. */
export interface Wanted {
  readonly uri: string;
  /** The entry of the URI. */
  readonly resolved: Resolved;
  readonly caller: Caller;
}

/** Counts the resources that each known caller watches. */
class CallerCounts {
  /** Watches by caller, then by key. */
  readonly #counts = new Map<string, Map<string, number>>();

  get size(): number {
    return this.#counts.size;
  }

  /** Counts one watch. Returns a function that takes it back; call it once. */
  add(caller: Caller, key: string): () => void {
    if (caller.isAnonymous) return () => {};
    const id = callerKey(caller);
    const own = this.#counts.get(id) ?? new Map<string, number>();
    this.#counts.set(id, own);
    own.set(key, (own.get(key) ?? 0) + 1);
    return () => {
      const left = (own.get(key) ?? 1) - 1;
      if (left > 0) return void own.set(key, left);
      own.delete(key);
      if (own.size === 0) this.#counts.delete(id);
    };
  }

  /** @param keys - `undefined` for a resource without watchers. */
  hasRoom(caller: Caller, keys: readonly (string | undefined)[]): boolean {
    if (caller.isAnonymous) return true;
    const own = this.#counts.get(callerKey(caller));
    const more = keys.filter((key) => key === undefined || own?.has(key) !== true);
    return (own?.size ?? 0) + more.length <= maxForOne;
  }
}

/** A watched resource, for display. */
export interface WatchedValue {
  readonly uri: string;
  /** The id of its entry. */
  readonly id: string;
  readonly watchers: number;
  /** Whether the last value may be old: its source is away, or says so. */
  readonly isStale: boolean;
  /** Changes since the first watcher. */
  readonly changes: number;
  /** Unix time in milliseconds of the last change. */
  readonly changedAt: number | undefined;
  /** Writes the last value; `undefined` for none. */
  write(): WrittenContent | undefined;
}

/** A resource with all its watchers. */
interface Shared {
  readonly key: string;
  readonly uri: string;
  /** The id of its entry. */
  readonly id: string;
  readonly resource: WatchedResource;
  /** Watches of callers. */
  watchers: number;
  /** Whether other replicas watch it through this one, or are told what callers watch. */
  isShared: boolean;
}

/** The key of a resource of this process, which may have another value for each caller. No URI starts like this. */
function ownKeyOf(uri: string, caller: Caller): string {
  return `[${visibleKey(caller)},${uri}`;
}

function keyOf({ uri, caller }: Wanted, watch: ResourceWatch): string {
  return "followHere" in watch ? ownKeyOf(uri, caller) : uri;
}

/** The link to resources of this process: always connected. */
const localLink: HeldLink = Object.freeze({ close() {} });

/**
 * The watched resources of an app: one upstream watch a URI for all watchers, or one a caller for a resource of this process. While a
 * resource of another process is watched and its newest value is known, a read takes no round trip.
 */
export class ResourceWatches {
  readonly #deps: ResourceWatchesDeps;
  readonly #clock: Clock;
  /** Resources of this process are watched over a link that is always there, so that a failed one is opened again. */
  readonly #local: ConnectionManager<HeldLink>;
  readonly #localSubscriptions: Subscriptions<HeldLink, unknown>;
  readonly #shared = new Map<string, Shared>();
  readonly #counts = new CallerCounts();
  readonly #reserved = new Set<string>();
  /** Calls that may have changed something. A value seen before the last of them may be stale, so the next read takes a round trip. */
  readonly changes: ChangeCount = { count: 0 };
  /** Makes epochs of this process differ from those of another. */
  readonly #process = randomBytes(6).toString("base64url");
  #epochs = 0;
  /** Number of resources that callers watch. */
  #watched = 0;
  #others: SharedChanges | undefined;

  constructor(deps: ResourceWatchesDeps) {
    const { clock = systemClock, random = Math.random } = deps;
    this.#deps = deps;
    this.#clock = clock;
    this.#local = new ConnectionManager({
      what: "resources of this process",
      dial: (events) => {
        events.opened(localLink);
        return () => {};
      },
      ...{ clock, random, idleMs: 0 },
    });
    this.#localSubscriptions = new Subscriptions({ holder: this.#local, clock, random });
  }

  /** Ends the watches of this process; others end with their link. Callable twice. */
  close(): void {
    this.#others?.close();
    this.#others = undefined;
    this.#local.close();
  }

  /**
   * Tells the other replicas of a cluster of changes, and announces theirs. Leaves out resources that may have another value for each
   * caller, those without a source, and those behind a link, whose owner tells each replica. Call it once, before anything is watched.
   * Returns a function that ends it; callable twice.
   *
   * @param report - receives the error when other replicas watch too much.
   */
  share(cluster: Pick<Cluster, "replica" | "bus">, report: (cause: unknown) => void): () => void {
    const { windowMs, random = Math.random } = this.#deps;
    const find = (uri: string): ((watcher: Watcher) => SharedWatchHandle) | undefined => {
      const resolved = this.#findShared(uri);
      return resolved && ((watcher) => this.#joinForOthers({ uri, resolved, caller: anonymous }, watcher));
    };
    const changes = new SharedChanges({ cluster, find, windowMs, maxWatched, random, clock: this.#clock, report });
    this.#others = changes;
    return () => {
      this.#others = undefined;
      changes.close();
    };
  }

  /** Number of watched resources. */
  get size(): number {
    return this.#shared.size;
  }

  /** Number of resources that callers watch. */
  get watched(): number {
    return this.#watched;
  }

  /** Returns the resources that callers watch, `max` at most. */
  list(max: number): readonly WatchedValue[] {
    const values: WatchedValue[] = [];
    for (const shared of this.#shared.values()) {
      if (values.length >= max) break;
      if (shared.watchers > 0) values.push(this.#toValue(shared));
    }
    return values;
  }

  /** Number of known callers who watch a resource. */
  get callers(): number {
    return this.#counts.size;
  }

  /** Keeps room for a resource that the app itself watches. */
  reserve(uri: string): void {
    this.#reserved.add(uri);
  }

  /** Returns whether a caller may watch these resources in addition. Call it before watching for a caller. */
  hasRoom(uris: Iterable<string>, caller: Caller): boolean {
    const wanted = Array.from(uris, (uri) => ({ uri, key: this.#keyOfWatched(this.#find(uri, caller)) }));
    let size = this.#watched;
    for (const uri of this.#reserved) if (this.#keyOfWatched(this.#shared.get(uri)) === undefined) size += 1;
    for (const { uri, key } of wanted) if (key === undefined && !this.#reserved.has(uri)) size += 1;
    const keys = wanted.map(({ key }) => key);
    return size <= maxWatched && this.#counts.hasRoom(caller, keys);
  }

  /**
   * Finds the resource of a URI. A read answers with the newest value of its watch if another process sent that within the last second.
   *
   * @param resolve - @default finds all resources of the app
   */
  resolve(uri: string, resolve: UriResolver = this.#deps.resolve): Resolved | undefined {
    const resolved = resolve(uri);
    if (resolved === undefined || this.#shared.size === 0) return resolved;
    return {
      id: resolved.id,
      scopes: resolved.scopes,
      requires: resolved.requires,
      // A getter, as in the entry: made only for a watcher.
      get watch() {
        return resolved.watch;
      },
      read: (call) => this.#read(uri, resolved, call),
    };
  }

  /** Returns the newest value of a watched resource that is the same for all callers; perhaps from before a call that has ended. */
  known({ uri, id }: Pick<ResourceEntry, "uri" | "id">): ResourceContent | undefined {
    return this.#writtenOf(this.#at(uri, id))?.content;
  }

  /** Returns whether a watcher knows that the resource is absent at present. */
  isAbsent(wanted: Wanted): boolean {
    const { id, watch } = wanted.resolved;
    const written = this.#writtenOf(this.#at(keyOf(wanted, watch), id));
    return written !== undefined && written.content === undefined;
  }

  /** Watches a resource. The snapshot that opens the watch is not announced. Returns a function that ends it. */
  watch(wanted: Wanted, listener: WatchListener): () => void {
    const watcher = new AnnouncingWatcher(listener);
    return watcher.start(this.join(wanted, watcher));
  }

  /** Joins the watchers of a resource. Works, and waits, also while there is no backend. */
  join(wanted: Wanted, watcher: Watcher): WatchHandle {
    const { caller, resolved } = wanted;
    const { watch } = resolved;
    const known = this.#at(keyOf(wanted, watch), resolved.id);
    const shared = known ?? this.#share(wanted, watch);
    const { key, resource } = shared;
    const uncount = this.#counts.add(caller, key);
    const subscription = this.#subscribe(shared, watcher, watch);
    this.#addWatcher(shared, wanted);
    let abort: AbortController | undefined;
    let isOver = false;
    return {
      resource,
      refresh: () => {
        if (known === undefined) return undefined;
        abort = new AbortController();
        const reading = resource.refresh(abort.signal);
        return reading && this.#settle(reading, abort);
      },
      end: () => {
        if (isOver) return;
        isOver = true;
        abort?.abort();
        subscription.end();
        uncount();
        this.#removeWatcher(shared, wanted);
      },
    };
  }

  #addWatcher(shared: Shared, { uri, resolved }: Wanted): void {
    shared.watchers += 1;
    if (shared.watchers > 1) return;
    this.#watched += 1;
    if (this.#others !== undefined && this.#findShared(uri)?.id === resolved.id) this.#others.watched(uri);
  }

  #removeWatcher(shared: Shared, { uri, resolved }: Wanted): void {
    shared.watchers -= 1;
    if (shared.watchers > 0) return;
    this.#watched -= 1;
    if (this.#others !== undefined && this.#findShared(uri)?.id === resolved.id) this.#others.unwatched(uri);
    this.#drop(shared);
  }

  #drop(shared: Shared): void {
    if (shared.watchers === 0 && !shared.isShared) this.#shared.delete(shared.key);
  }

  /** Returns the resource of a URI if it has one value for all callers, and a source that can be read again. */
  #findShared(uri: string): Resolved | undefined {
    const resolved = this.#deps.resolve(uri);
    const watch = resolved?.watch;
    return watch === undefined || "followHere" in watch || watch.refresh === undefined ? undefined : resolved;
  }

  #joinForOthers(wanted: Wanted, watcher: Watcher): SharedWatchHandle {
    const { watch, id } = wanted.resolved;
    const shared = this.#at(keyOf(wanted, watch), id) ?? this.#share(wanted, watch);
    const { resource } = shared;
    shared.isShared = true;
    const subscription = this.#subscribe(shared, watcher, watch);
    const latest = (): unknown => this.#latest(shared);
    return {
      get mark() {
        return latest() === undefined ? undefined : resource.mark;
      },
      get isRemote() {
        return resource.isRemote;
      },
      reopen: () => subscription.reopen(),
      announce: () => {
        resource.countChange();
        subscription.announce();
      },
      end: () => {
        subscription.end();
        shared.isShared = false;
        this.#drop(shared);
      },
    };
  }

  /** Waits for a refresh. Ignores a failure: the next read fails in the same way, and the watch goes on. */
  async #settle(reading: Promise<unknown>, abort: AbortController): Promise<void> {
    const stopTimer = this.#clock.after(maxRefreshMs, () => abort.abort());
    await reading.catch(() => {});
    stopTimer();
  }

  #subscribe({ key, resource }: Shared, watcher: Watcher, watch: ResourceWatch): Subscription {
    const windowMs = watch.windowMs ?? this.#deps.windowMs;
    if ("followHere" in watch) {
      const open = (_link: HeldLink, events: WatchEvents<unknown>): (() => void) => resource.open(undefined, events);
      return this.#localSubscriptions.subscribe({ key, windowMs, open }, watcher);
    }
    return this.#deps.subscriptions.subscribe({ key, windowMs, open: resource.open.bind(resource) }, watcher);
  }

  /** Returns the watched resource that a URI names for a caller. @param id - its entry; left out: any. */
  #find(uri: string, caller: Caller, id?: string): Shared | undefined {
    return this.#at(uri, id) ?? this.#at(ownKeyOf(uri, caller), id);
  }

  #at(key: string, id: string | undefined): Shared | undefined {
    return this.#shared.get(id === undefined ? key : this.#keyFor(key, id));
  }

  /** Returns the key of an entry. Views may show another entry under the same URI: the second one is kept beside the first. */
  #keyFor(key: string, id: string): string {
    const first = this.#shared.get(key);
    return first === undefined || first.id === id ? key : `[${JSON.stringify(id)}${key}`;
  }

  #keyOfWatched(shared: Shared | undefined): string | undefined {
    return shared === undefined || shared.watchers === 0 ? undefined : shared.key;
  }

  #latest({ key }: Shared): { readonly value: unknown } | undefined {
    return this.#deps.subscriptions.latest(key) ?? this.#localSubscriptions.latest(key);
  }

  #writtenOf(shared: Shared | undefined): WrittenContent | undefined {
    const latest = shared && this.#latest(shared);
    return latest && shared?.resource.write(latest.value);
  }

  #toValue(shared: Shared): WatchedValue {
    const { uri, id, watchers, resource } = shared;
    const { seen, changes, changedAt } = resource;
    const isStale = seen !== undefined && (this.#latest(shared) === undefined || seen.value instanceof Stale);
    return { uri, id, watchers, isStale, changes, changedAt, write: () => seen && resource.write(seen.value) };
  }

  #share(wanted: Wanted, watch: ResourceWatch): Shared {
    const { resolved, caller } = wanted;
    this.#epochs += 1;
    const epoch = `${this.#process}${this.#epochs.toString(36)}`;
    const resource = new WatchedResource({ watch, caller, epoch, changes: this.changes, clock: this.#clock });
    const key = this.#keyFor(keyOf(wanted, watch), resolved.id);
    const shared: Shared = { key, uri: wanted.uri, id: resolved.id, resource, watchers: 0, isShared: false };
    this.#shared.set(key, shared);
    return shared;
  }

  #read(uri: string, resolved: Resolved, call: EntryCall): ReadResult {
    // By the caller who reads, not the one who resolved: no value reaches another caller.
    const shared = this.#find(uri, call.caller, resolved.id);
    if (shared === undefined || !shared.resource.isRemote) return resolved.read(call);
    const { resource } = shared;
    if (resource.seenAfter === this.changes.count && resource.isRecent) {
      const written = this.#writtenOf(shared);
      if (written !== undefined) return written.content;
    }
    return this.#compare(shared, resolved.read(call));
  }

  /** Compares the value of a read with the newest value that the watch has seen. */
  async #compare(shared: Shared, reading: ReadResult): Promise<ResourceContent | undefined> {
    const [changes, begunAt] = [this.changes.count, this.#clock.now()];
    const content = await reading;
    shared.resource.compare(content, { latest: this.#latest(shared), changes, begunAt });
    return content;
  }
}
