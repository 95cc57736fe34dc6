import type { Bus, Cluster } from "../../cluster/cluster.ts";
import { SurfaceError } from "../../errors.ts";
import { parseJson } from "../../schema/json.ts";
import type { Clock, Random } from "../../spine/clock.ts";
import type { Watcher } from "../../spine/subscriptions.ts";
import { Throttle } from "../../spine/throttle.ts";
import { maxUriLength } from "../resolve-uri.ts";
import { type ChangeNotice, SharedResource, type SharedWatchHandle } from "./shared-resource.ts";

/** Dependencies of {@link SharedChanges}. */
export interface SharedChangesDeps {
  readonly cluster: Pick<Cluster, "replica" | "bus">;
  /** Returns a function that starts a watch for other replicas; `undefined` if the URI names no resource whose changes travel. */
  readonly find: (uri: string) => ((watcher: Watcher) => SharedWatchHandle) | undefined;
  /** The shortest time between two texts about what is watched here, in milliseconds. */
  readonly windowMs: number;
  /** Resources that one replica may watch. */
  readonly maxWatched: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Receives the error when other replicas watch more than this one follows. */
  readonly report: (cause: unknown) => void;
}

/** The topic of the bus. */
export const changesTopic = "changes";

/** Milliseconds until a replica repeats what it watches, and until the others forget it. */
const repeatMs = 10_000;
const forgetMs = 3 * repeatMs;

/** Replicas whose watches are followed. */
const maxReplicas = 32;

/** Bytes of entries in one text, which the bus bounds at 64 KiB. An entry has at most 6 bytes for each unit of a URI. */
const maxTextBytes = 60_000;

/** Milliseconds between two answers to the question which URIs are watched. */
const answerMs = 1000;

/** `[]`: tell what is watched. `[uri, isWatched]`. `[uri, digest, isRepeated]`: a change. */
type Entry = readonly [] | readonly [string, boolean] | readonly [string, string, boolean];

interface BusText {
  readonly replica: string;
  readonly entries: readonly unknown[];
}

function readText(text: string): BusText | undefined {
  const parts = parseJson(text);
  if (!Array.isArray(parts)) return undefined;
  const all: readonly unknown[] = parts;
  const [replica, ...entries] = all;
  return typeof replica === "string" && /^[0-9a-f]{1,64}$/.test(replica) ? { replica, entries } : undefined;
}

/** Publishes entries, at the end of a turn, in as few texts as there can be. */
class Outbox {
  readonly #bus: Bus;
  readonly #replica: string;
  /** The newest entry of each kind for each URI. */
  readonly #entries = new Map<string, Entry>();

  constructor({ bus, replica }: Pick<Cluster, "bus" | "replica">) {
    this.#bus = bus;
    this.#replica = replica;
  }

  add(entry: Entry): void {
    if (this.#entries.size === 0) queueMicrotask(() => this.flush());
    const [uri = "", what] = entry;
    const key = `${entry.length}${uri}`;
    const isRepeated = typeof what === "string" && this.#entries.has(key);
    this.#entries.set(key, isRepeated ? [uri, what, true] : entry);
  }

  flush(): void {
    let [texts, bytes]: [string[], number] = [[], 0];
    const publish = (): void => {
      if (texts.length > 0) this.#bus.publish(changesTopic, `["${this.#replica}",${texts.join(",")}]`);
      [texts, bytes] = [[], 0];
    };
    for (const entry of this.#entries.values()) {
      const text = JSON.stringify(entry);
      const size = Buffer.byteLength(text) + 1;
      if (bytes + size > maxTextBytes) publish();
      texts.push(text);
      bytes += size;
    }
    this.#entries.clear();
    publish();
  }
}

/** The URIs that each of the other replicas watches, as it has told. */
class WatchedElsewhere {
  /** The time when a replica's watch is forgotten, by replica and URI. */
  readonly #until = new Map<string, Map<string, number>>();
  readonly #most: number;

  /** @param most - URIs of one replica. */
  constructor(most: number) {
    this.#most = most;
  }

  has(uri: string): boolean {
    for (const own of this.#until.values()) if (own.has(uri)) return true;
    return false;
  }

  /** Adds or renews a watch. Returns false if there is no room. */
  add(replica: string, uri: string, until: number): boolean {
    const own = this.#until.get(replica) ?? new Map<string, number>();
    if (own.size === 0 ? this.#until.size >= maxReplicas : own.size >= this.#most && !own.has(uri)) return false;
    this.#until.set(replica, own.set(uri, until));
    return true;
  }

  remove(replica: string, uri: string): void {
    const own = this.#until.get(replica);
    if (own?.delete(uri) === true && own.size === 0) this.#until.delete(replica);
  }

  /** Removes the watches whose time is over. Returns their URIs. */
  expire(now: number): readonly string[] {
    const over: (readonly [string, string])[] = [];
    for (const [replica, own] of this.#until)
      for (const [uri, until] of own) if (until <= now) over.push([replica, uri]);
    for (const [replica, uri] of over) this.remove(replica, uri);
    return over.map(([, uri]) => uri);
  }
}

/**
 * Tells other replicas which resources are watched here, and of changes of those that they watch: URIs and digests, never values. A
 * resource is read again here when another replica has seen another value of it. Call `close()` when done.
 */
export class SharedChanges {
  readonly #deps: SharedChangesDeps;
  readonly #outbox: Outbox;
  readonly #elsewhere: WatchedElsewhere;
  /** The URIs that callers of this replica watch. */
  readonly #here = new Set<string>();
  /** The URIs of which the others were told that they are watched here. */
  readonly #told = new Set<string>();
  /** The URIs that may have to be added to those, or removed. */
  readonly #touched = new Set<string>();
  readonly #resources = new Map<string, SharedResource>();
  readonly #watchedThrottle: Throttle;
  readonly #answerThrottle: Throttle;
  readonly #stopBus: () => void;
  #stopTimer: () => void = () => {};
  #isFull = false;
  /** The time of the last gap. */
  #lostAt = Number.NEGATIVE_INFINITY;

  constructor(deps: SharedChangesDeps) {
    const { cluster, clock, windowMs, maxWatched } = deps;
    this.#deps = deps;
    this.#outbox = new Outbox(cluster);
    this.#elsewhere = new WatchedElsewhere(maxWatched);
    this.#watchedThrottle = new Throttle({ clock, windowMs, fire: () => this.#tellTouched() });
    this.#answerThrottle = new Throttle({ clock, windowMs: answerMs, fire: () => this.#repeat() });
    this.#stopBus = cluster.bus.subscribe(changesTopic, {
      message: (text) => this.#receive(text),
      gap: () => this.#onGap(),
    });
    this.#outbox.add([]);
    this.#arm();
  }

  /** Notes that callers of this replica watch a resource. */
  watched(uri: string): void {
    this.#here.add(uri);
    if (this.#resources.get(uri)?.isOpen === true) this.#touch(uri);
    this.#follow(uri);
  }

  /** Notes that no caller of this replica watches a resource any more. */
  unwatched(uri: string): void {
    this.#here.delete(uri);
    if (this.#told.has(uri)) this.#touch(uri);
    this.#release(uri);
  }

  /** Ends all watches, and tells the others. Callable twice. */
  close(): void {
    this.#stopBus();
    this.#stopTimer();
    this.#watchedThrottle.dispose();
    this.#answerThrottle.dispose();
    for (const resource of this.#resources.values()) resource.end();
    this.#resources.clear();
    for (const uri of this.#told) this.#outbox.add([uri, false]);
    this.#told.clear();
    this.#outbox.flush();
  }

  #arm(): void {
    this.#stopTimer = this.#deps.clock.after(repeatMs, () => {
      this.#arm();
      this.#repeat();
      for (const uri of this.#elsewhere.expire(this.#deps.clock.now())) this.#release(uri);
    });
  }

  #receive(text: string): void {
    const read = readText(text);
    for (const entry of read?.entries ?? []) if (Array.isArray(entry)) this.#take(read?.replica ?? "", entry);
  }

  #take(replica: string, entry: readonly unknown[]): void {
    const [uri, what, isRepeated] = entry;
    if (entry.length === 0) return this.#answerThrottle.touch();
    if (typeof uri !== "string" || uri.length > maxUriLength) return;
    if (typeof what === "string") this.#resources.get(uri)?.receive({ digest: what, isRepeated: isRepeated === true });
    else if (what === true) this.#want(replica, uri);
    else if (what === false) {
      this.#elsewhere.remove(replica, uri);
      this.#release(uri);
    }
  }

  #onGap(): void {
    this.#lostAt = this.#deps.clock.now();
    this.#outbox.add([]);
    this.#answerThrottle.touch();
    for (const resource of this.#resources.values()) resource.receive({ digest: undefined, isRepeated: true });
  }

  #want(replica: string, uri: string): void {
    const isKnown = this.#elsewhere.has(uri);
    if (!this.#elsewhere.add(replica, uri, this.#deps.clock.now() + forgetMs)) return this.#reportFull();
    if (isKnown) return;
    const resource = this.#resources.get(uri);
    if (resource === undefined) this.#follow(uri);
    else this.#tellFirst(resource);
  }

  /**
   * Tells a replica that has begun to watch. It has read its source before it told: a change since then shows in the digest. If its
   * text was lost, the value may have come back since.
   */
  #tellFirst(resource: SharedResource): void {
    resource.tell(this.#deps.clock.now() - this.#lostAt < forgetMs);
  }

  #reportFull(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    const { maxWatched, report } = this.#deps;
    const bound = `the bound is ${maxReplicas} replicas, each with ${maxWatched} resources; run fewer, or watch fewer`;
    report(new SurfaceError("OVERFLOW", `Cannot follow all resources that other replicas watch: ${bound}`));
  }

  #follow(uri: string): void {
    const follow = this.#resources.has(uri) ? undefined : this.#deps.find(uri);
    if (follow === undefined) return;
    const resource = new SharedResource({
      ...this.#deps,
      follow,
      opened: () => this.#onOpen(uri),
      changed: (notice) => this.#tell(uri, notice),
    });
    this.#resources.set(uri, resource);
    // Others may have the value already.
    resource.moved();
  }

  /** Ends the watch of a resource that is watched neither here nor elsewhere. */
  #release(uri: string): void {
    if (this.#here.has(uri) || this.#elsewhere.has(uri)) return;
    this.#end(uri);
  }

  #end(uri: string): void {
    this.#resources.get(uri)?.end();
    this.#resources.delete(uri);
  }

  #onOpen(uri: string): void {
    const resource = this.#resources.get(uri);
    if (resource?.isRemote !== false) return this.#end(uri);
    if (this.#here.has(uri)) this.#touch(uri);
    this.#tellFirst(resource);
  }

  #tell(uri: string, { digest, isRepeated }: ChangeNotice): void {
    if (digest !== undefined) this.#outbox.add([uri, digest, isRepeated]);
  }

  #touch(uri: string): void {
    this.#touched.add(uri);
    this.#watchedThrottle.touch();
  }

  #tellTouched(): void {
    for (const uri of this.#touched) {
      const isWatched = this.#here.has(uri) && this.#resources.get(uri)?.isOpen === true;
      if (isWatched === this.#told.has(uri)) continue;
      if (isWatched) this.#told.add(uri);
      else this.#told.delete(uri);
      this.#outbox.add([uri, isWatched]);
    }
    this.#touched.clear();
  }

  #repeat(): void {
    for (const uri of this.#told) this.#outbox.add([uri, true]);
  }
}
