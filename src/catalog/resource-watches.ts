import { randomBytes } from "node:crypto";
import type { OpenedLink } from "../links/dial-link.ts";
import type { Clock, Random } from "../spine/clock.ts";
import { ConnectionHolder } from "../spine/connection-holder.ts";
import type { Dial, HeldLink } from "../spine/dial.ts";
import type { WatchEvents, Watcher } from "../spine/shared-watch.ts";
import { Subscriptions, type Subscription } from "../spine/subscriptions.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { EntryCall, ResourceContent, ResourceWatch } from "./entry.ts";
import type { Resolved, UriResolver } from "./resolve-uri.ts";
import { WatchedResource } from "./watched-resource.ts";

/** What {@link ResourceWatches} are made of. */
export interface ResourceWatchesSetting {
  readonly resolve: UriResolver;
  readonly subscriptions: Subscriptions<OpenedLink, unknown>;
  /** The shortest time between two notices of one resource whose author said nothing, in milliseconds. */
  readonly windowMs: number;
  /** Default: this machine's. */
  readonly clock?: Clock;
  /** Default: `Math.random`. */
  readonly random?: Random;
}

/** One watcher's part in a resource that is watched. Whoever made it ends it. */
export interface Watching {
  readonly resource: WatchedResource;
  /** Ends it: nothing is told after this. Callable twice. */
  end(): void;
}

/** How many resources of an app callers may watch: fewer than a link carries at once. */
const maxWatched = 2048;

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
  readonly resource: WatchedResource;
  watchers: number;
}

/**
 * The resources of an app that are watched, by URI: one upstream watch each, whoever and however many watch it. While one
 * is watched and its newest value is known, reading it takes no round trip.
 */
export class ResourceWatches {
  readonly #setting: ResourceWatchesSetting;
  readonly #local: LocalSubscriptions;
  readonly #shared = new Map<string, Shared>();
  /** Tells the epochs of this process from those of another. */
  readonly #process = randomBytes(6).toString("base64url");
  #epochs = 0;
  /** How many calls that may have changed something have ended. */
  #changes = 0;

  constructor(setting: ResourceWatchesSetting) {
    this.#setting = setting;
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

  /** Whether these may be watched besides what is. Whoever watches for a caller asks first. */
  hasRoom(uris: Iterable<string>): boolean {
    let size = this.#shared.size;
    for (const uri of uris) if (!this.#shared.has(uri)) size += 1;
    return size <= maxWatched;
  }

  /**
   * A call that may have changed something has ended: what was seen before it may be older than what its caller knows. A
   * read takes a round trip then, until a newer value was seen or one was read that is the same.
   */
  distrust(): void {
    this.#changes += 1;
  }

  /** Finds what a URI names; reading it answers from the newest value where that is known. */
  resolve(uri: string): Resolved | undefined {
    const resolved = this.#setting.resolve(uri);
    if (resolved === undefined || !this.#shared.has(uri)) return resolved;
    const { id, scopes, watch } = resolved;
    return { id, scopes, watch, read: (call) => this.#read(uri, resolved, call) };
  }

  /** What is under a URI that is watched, where its newest value is known; maybe from before a call that has ended. */
  known(uri: string): ResourceContent | undefined {
    const latest = this.#latest(uri);
    return latest === undefined ? undefined : this.#shared.get(uri)?.resource.write(latest.value)?.content;
  }

  /**
   * Watches what is under a URI: `changed` is called at once after quiet, then at most once a window, and always once more
   * after the last change; never for the snapshot that watching opens with. `opened` is told once, maybe at once: from
   * then on no change is missed; `false` where nothing can be under the URI. Returns what ends it; `undefined` where it is
   * known already that there is nothing.
   */
  watch(uri: string, changed: () => void, opened?: (isThere: boolean) => void): (() => void) | undefined {
    const resolved = this.#setting.resolve(uri);
    if (resolved === undefined) return undefined;
    let isTold = false;
    const tell = (): void => {
      const { isThere } = watching.resource;
      if (isTold || isThere === undefined) return;
      isTold = true;
      opened?.(isThere);
    };
    const watching: Watching = this.join(uri, resolved, { changed, moved: () => tell() });
    // Known before, where somebody else watches it.
    tell();
    return () => {
      isTold = true;
      watching.end();
    };
  }

  /** Watches what a URI has resolved to. Works, and waits, also while there is no backend. */
  join(uri: string, resolved: Resolved, watcher: Watcher): Watching {
    const shared = this.#shared.get(uri) ?? this.#share(uri, resolved);
    shared.watchers += 1;
    const { resource } = shared;
    const windowMs = resolved.watch.windowMs ?? this.#setting.windowMs;
    const subscription = this.#subscribe({ key: uri, windowMs, resource }, watcher, resolved.watch);
    let isOver = false;
    return {
      resource,
      end: () => {
        if (isOver) return;
        isOver = true;
        subscription.end();
        shared.watchers -= 1;
        if (shared.watchers === 0) this.#shared.delete(uri);
      },
    };
  }

  #subscribe({ key, windowMs, resource }: Followed, watcher: Watcher, watch: ResourceWatch): Subscription {
    if ("followHere" in watch) {
      const open = (_here: HeldLink, events: WatchEvents<unknown>): (() => void) => resource.open(undefined, events);
      return this.#local.subscriptions.subscribe({ key, windowMs, open }, watcher);
    }
    return this.#setting.subscriptions.subscribe({ key, windowMs, open: resource.open.bind(resource) }, watcher);
  }

  #latest(uri: string): { readonly value: unknown } | undefined {
    return this.#setting.subscriptions.latest(uri) ?? this.#local.subscriptions.latest(uri);
  }

  #share(uri: string, { watch }: Resolved): Shared {
    this.#epochs += 1;
    const epoch = `${this.#process}${this.#epochs.toString(36)}`;
    const resource = new WatchedResource({ watch, epoch, changes: () => this.#changes });
    const shared: Shared = { resource, watchers: 0 };
    this.#shared.set(uri, shared);
    return shared;
  }

  async #read(uri: string, resolved: Resolved, call: EntryCall): Promise<ResourceContent | undefined> {
    const resource = this.#shared.get(uri)?.resource;
    const latest = this.#latest(uri);
    const changes = this.#changes;
    if (resource !== undefined && latest !== undefined && resource.seenAfter === changes) {
      const written = resource.write(latest.value);
      if (written !== undefined) return written.content;
    }
    const content = await resolved.read(call);
    resource?.compare(content, { latest: this.#latest(uri), changes });
    return content;
  }
}
