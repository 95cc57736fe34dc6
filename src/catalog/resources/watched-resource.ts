import { createHash } from "node:crypto";
import { SurfaceError, type SurfaceErrorCode } from "../../errors.ts";
import { linkLossOf, type OpenedLink } from "../../links/dial-link.ts";
import type { Clock } from "../../spine/clock.ts";
import { toPushing, type Pushing, type Sink } from "../../spine/pushing.ts";
import type { Watcher, WatchEvents } from "../../spine/subscriptions.ts";
import type { Caller } from "../../surface/caller.ts";
import { isSameContent, toDistinctText } from "../content/resource-body.ts";
import type { ResourceContent, ResourceWatch } from "../entry.ts";

/** A value as resource content. */
export interface WrittenContent {
  /** `undefined`: the resource is absent. */
  readonly content: ResourceContent | undefined;
}

/** Number of calls that have ended and may have changed something. */
export interface ChangeCount {
  count: number;
}

/** Dependencies of a {@link WatchedResource}. */
export interface WatchedResourceDeps {
  readonly watch: ResourceWatch;
  /** The caller of a resource of this process, which may have another value for each. */
  readonly caller: Caller;
  /** Identifies the time from its first watcher to its last. */
  readonly epoch: string;
  readonly changes: ChangeCount;
  readonly clock: Clock;
}

/** A position in the changes of one resource. */
export interface Mark {
  /** Identifies the watch that counted {@link Mark.version}. */
  readonly epoch: string;
  readonly version: number;
  /** Identifies the value once the watch has lapsed; `undefined` if the value was not known. */
  readonly digest: string | undefined;
}

/** State of a read that has ended. */
interface EndedRead {
  /** The newest value of the watch when the read ended. */
  readonly latest: { readonly value: unknown } | undefined;
  /** The change count when the read began. */
  readonly changes: number;
  /** The time when the read began. */
  readonly begunAt: number;
}

/** Failures that another attempt to subscribe does not mend. */
const lastingCodes: ReadonlySet<SurfaceErrorCode> = new Set([
  "UNKNOWN_MEMBER",
  "WRONG_KIND",
  "CONTRACT_MISMATCH",
  "SCHEMA_UNSUPPORTED",
  "VALIDATION_ERROR",
  "DROPPED",
]);

/**
 * Passes the values of an iteration to a watch, until it is stopped. Does not report the end of the link, which its holder does. Values
 * that a link cuts off end before the promise of its end resolves, so the state of the link decides.
 */
class Pump<TValue> implements Sink<TValue> {
  readonly isFull = false;
  readonly #events: WatchEvents<TValue>;
  readonly #link: Pick<OpenedLink, "isOpen"> | undefined;
  readonly #abort = new AbortController();
  #values: Pushing<TValue> | undefined;

  constructor(events: WatchEvents<TValue>, link: Pick<OpenedLink, "isOpen"> | undefined) {
    this.#events = events;
    this.#link = link;
  }

  start(open: (signal: AbortSignal) => AsyncIterable<TValue>): void {
    try {
      this.#values = toPushing(open(this.#abort.signal));
    } catch (cause) {
      return this.failed(cause);
    }
    this.#values.push(this);
  }

  value(value: TValue): void {
    if (!this.#abort.signal.aborted) this.#events.value(value);
  }

  ended(): void {
    if (!this.#abort.signal.aborted && this.#link?.isOpen() !== false) this.#events.ended();
  }

  failed(cause: unknown): void {
    if (this.#abort.signal.aborted || linkLossOf(cause) !== undefined) return;
    const code = cause instanceof SurfaceError ? cause.code : "INTERNAL";
    this.#events.failed(lastingCodes.has(code), code === "DROPPED");
  }

  /** Ends the iteration. A watch ignores a failure of that. */
  stop(): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort();
    this.#values?.return().catch(() => {});
  }
}

/**
 * Passes the values of an iteration to a watch. Returns a function that stops it.
 *
 * @param link - the link that carries the values, if there is one.
 */
export function pump<TValue>(
  open: (signal: AbortSignal) => AsyncIterable<TValue>,
  events: WatchEvents<TValue>,
  link?: Pick<OpenedLink, "isOpen">,
): () => void {
  const pumped = new Pump(events, link);
  pumped.start(open);
  return () => pumped.stop();
}

/** A value for `seenAfter`: the stream has ended, and its last value answers no read. */
const never = -1;

/** A value for `seenAfter`: a read has returned something that the watch has not seen. */
const outdated = -2;

/** Milliseconds for which a value answers reads. The source behind a link may be one that never announces a change. */
const warmMs = 1000;

/** Returns a text that identifies a written value. */
function toDistinct(written: WrittenContent | undefined): string {
  if (written === undefined) return "unknown";
  return written.content === undefined ? "absent" : toDistinctText(written.content);
}

/** Returns a hash of so many characters. */
export function shortHash(text: string, length: number): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, length);
}

/** A resource while it is watched: the newest value, its content, and the number of changes. Only this class changes its fields. */
export class WatchedResource {
  /** The last value, also while its connection is lost. */
  seen: { readonly value: unknown } | undefined;
  /**
   * The change count after which the last value is known to be the newest: the count when the stream was opened, or when a read found
   * the same value. A value that is pushed does not count: the owner may have read it before a call took effect.
   */
  seenAfter = 0;
  /** Whether the stream comes from another process. In this process every read asks the source, which may never announce a change. */
  isRemote = false;
  /** Whether the URI can have a value; `undefined` until that is known. */
  isThere: boolean | undefined;
  /** Unix time in milliseconds of the last change. */
  changedAt: number | undefined;
  readonly #deps: WatchedResourceDeps;
  /** The time when the last value was received, or when a read began that returned it. */
  #confirmedAt = 0;
  /** Whether a read has returned something since the stream was opened that the stream has not. */
  #isReadNewer = false;
  /** Whether the stream has failed since its last value. */
  #hasFailed = false;
  #version = 0;
  #digest: { readonly of: unknown; readonly text: string } | undefined;
  #link: OpenedLink | undefined;
  #written: { readonly of: unknown; readonly written: WrittenContent | undefined } | undefined;

  constructor(deps: WatchedResourceDeps) {
    this.#deps = deps;
  }

  /** Returns whether the last value was received or confirmed within the last second. */
  get isRecent(): boolean {
    return this.#deps.clock.now() - this.#confirmedAt < warmMs;
  }

  /** The position in the changes. A value that is the same after its connection was lost is not a change. */
  get mark(): Mark {
    return { epoch: this.#deps.epoch, version: this.#version, digest: this.seen && this.#digestOf(this.seen.value) };
  }

  /** Compares the result of a read with the newest value of the watch: it confirms the value, or shows that the watch is behind. */
  compare(content: ResourceContent | undefined, { latest, changes, begunAt }: EndedRead): void {
    const known = latest && this.write(latest.value);
    this.#isReadNewer = known === undefined || !isSameContent(known.content, content);
    if (this.seenAfter !== never) this.seenAfter = this.#isReadNewer ? outdated : changes;
    this.#confirmedAt = Math.max(this.#confirmedAt, begunAt);
  }

  /** Opens its stream for the spine. @param link - left out for a resource of this process. */
  open(link: OpenedLink | undefined, events: WatchEvents<unknown>): () => void {
    const openedAfter = this.#deps.changes.count;
    this.#link = link;
    this.#isReadNewer = false;
    this.isRemote = link?.isRemote === true;
    let isSnapshot = true;
    const seen: WatchEvents<unknown> = {
      value: (value) => {
        this.isThere = true;
        // Opened again after a failure, without a value to read yet: not a change, and it may fail in the same way.
        if (this.#hasFailed && this.write(value) === undefined) return;
        this.#hasFailed = false;
        this.#see(value, isSnapshot);
        this.#confirmedAt = this.#deps.clock.now();
        // The snapshot is read after the stream was opened. A later value may have been read before a call that has ended meanwhile.
        if (isSnapshot && !this.#isReadNewer) this.seenAfter = openedAfter;
        isSnapshot = false;
        events.value(value);
      },
      ended: () => {
        this.isThere = true;
        // A read starts the source again, and may find another value.
        this.seenAfter = never;
        events.ended();
      },
      failed: (lasting, wasThere) => {
        this.isThere = !lasting || wasThere === true;
        this.#hasFailed = true;
        events.failed(lasting);
      },
    };
    return pump((signal) => this.#follow(link, signal), seen, link);
  }

  /** Counts a change, also one of which the stream tells nothing: another process has seen it. */
  countChange(): void {
    this.#version += 1;
    this.changedAt = Date.now();
  }

  /** The number of changes since its first watcher. */
  get changes(): number {
    return this.#version;
  }

  /** Makes the owner read the source once. `undefined` if the resource has no source. */
  refresh(signal: AbortSignal): Promise<unknown> | undefined {
    const { watch } = this.#deps;
    return this.#link === undefined || "followHere" in watch
      ? undefined
      : watch.refresh?.(this.#link.channel, { signal });
  }

  /** Writes a value; `undefined` if it cannot be written, or holds nothing to read yet. */
  write(value: unknown): WrittenContent | undefined {
    const last = this.#written;
    if (last !== undefined && Object.is(last.of, value)) return last.written;
    let written: WrittenContent | undefined;
    try {
      written = { content: this.#deps.watch.render(value) };
    } catch {
      // A read fails in the same way, and reports it.
    }
    this.#written = { of: value, written };
    return written;
  }

  #follow(link: OpenedLink | undefined, signal: AbortSignal): AsyncIterable<unknown> {
    const { watch, caller } = this.#deps;
    if ("followHere" in watch) return watch.followHere({ signal, caller });
    if (link !== undefined) return watch.follow(link.channel, { signal });
    throw new SurfaceError("UNAVAILABLE", "Cannot watch a resource: there is no connection to its application");
  }

  #see(value: unknown, isSnapshot: boolean): void {
    const before = this.seen;
    this.seen = { value };
    if (before === undefined) return;
    // Only snapshots are compared. A stream repeats a value if a reader has seen another one in between: that is a change.
    if (isSnapshot && this.#isSame(before.value, value)) return;
    this.countChange();
  }

  #digestOf(value: unknown): string {
    if (this.#digest === undefined || !Object.is(this.#digest.of, value)) {
      this.#digest = { of: value, text: shortHash(toDistinct(this.write(value)), 8) };
    }
    return this.#digest.text;
  }

  #isSame(before: unknown, value: unknown): boolean {
    return Object.is(before, value) || toDistinct(this.write(before)) === toDistinct(this.write(value));
  }
}

/** Callbacks of a watcher. */
export interface WatchListener {
  /** Announces a change, as the throttle of the resource allows. */
  changed(): void;
  /** Called once, perhaps at once: no change is missed from then on. `isThere` is false if nothing can be under the URI. */
  opened?: ((isThere: boolean) => void) | undefined;
}

/** The part of one watcher in a watched resource. Call {@link end} when done. */
export interface WatchHandle {
  readonly resource: WatchedResource;
  /**
   * Reads the source of a resource that others watched before: a poll could otherwise miss a change that this watcher knows
   * of. Resolves when the source has answered, and never rejects. `undefined` if no read is needed. Call it once.
   */
  refresh(): Promise<void> | undefined;
  /** Ends it: no callback is called after this. Callable twice. */
  end(): void;
}

/** Announces changes; and, once, that none is missed from then on: after the read that joining others takes. */
export class AnnouncingWatcher implements Watcher {
  readonly #listener: WatchListener;
  #watching: WatchHandle | undefined;
  #isOpen = false;

  constructor(listener: WatchListener) {
    this.#listener = listener;
  }

  /** Starts with what is known already. Returns a function that ends the watch. */
  start(watching: WatchHandle): () => void {
    this.#watching = watching;
    this.moved();
    return () => {
      this.#watching = undefined;
      watching.end();
    };
  }

  changed(): void {
    this.#listener.changed();
  }

  moved(): void {
    const watching = this.#watching;
    const isThere = watching?.resource.isThere;
    if (this.#isOpen || isThere === undefined) return;
    this.#isOpen = true;
    const refreshed = isThere ? watching?.refresh() : undefined;
    if (refreshed === undefined) this.#listener.opened?.(isThere);
    else void refreshed.then(() => this.#watching && this.#listener.opened?.(isThere));
  }
}
