import { SurfaceError } from "../../errors.ts";
import { pump, type OpenedLink } from "../../links/dial-link.ts";
import type { Clock } from "../../spine/clock.ts";
import type { WatchEvents } from "../../spine/subscriptions.ts";
import type { Caller } from "../../surface/caller.ts";
import { digestOf } from "./change-cursor.ts";
import type { ResourceContent, ResourceWatch } from "../entry.ts";
import { isSameContent, toDistinctText } from "../content/resource-body.ts";

/** A value as it is written; `undefined` for an absent one. */
export interface Written {
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

/** State of the watch when a read ended. */
interface Known {
  readonly latest: { readonly value: unknown } | undefined;
  /** The change count when the read began. */
  readonly changes: number;
  /** The time when the read began. */
  readonly begunAt: number;
}

/** A value for `seenAfter`: the stream has ended, and its last value answers no read. */
const never = -1;

/** A value for `seenAfter`: a read has returned something that the watch has not seen. */
const doubted = -2;

/** Milliseconds for which a value answers reads. The source behind a link may be one that never announces a change. */
const warmMs = 1000;

/** Returns a text for what is written; different ones have different texts. */
function toDistinct(written: Written | undefined): string {
  if (written === undefined) return "unknown";
  return written.content === undefined ? "absent" : toDistinctText(written.content);
}

/** A resource while it is watched: the newest value, how it is written, and the number of changes. */
export class WatchedResource {
  readonly epoch: string;
  readonly #deps: WatchedResourceDeps;
  #seenAfter = 0;
  /** When the last value was received, or when a read began that found the same one. */
  #heardAt = 0;
  #isRemote = false;
  /** Whether a read has returned something since the stream was opened that the stream has not. */
  #isOvertaken = false;
  #seen: { readonly value: unknown } | undefined;
  /** Whether it has failed since its last value. */
  #hasFailed = false;
  #version = 0;
  #isThere: boolean | undefined;
  #digest: { readonly of: unknown; readonly digest: string } | undefined;
  #link: OpenedLink | undefined;
  #written: { readonly of: unknown; readonly written: Written | undefined } | undefined;

  constructor(deps: WatchedResourceDeps) {
    this.#deps = deps;
    this.epoch = deps.epoch;
  }

  /** The last value, also while its connection is lost. */
  get seen(): { readonly value: unknown } | undefined {
    return this.#seen;
  }

  /**
   * The change count after which the last value is known to be the newest: the count when the stream was opened, or when a read found
   * the same value. A value that is pushed does not count: the owner may have read it before a call took effect.
   */
  get seenAfter(): number {
    return this.#seenAfter;
  }

  /** Whether the stream comes from another process. In this process every read asks the source, which may never announce a change. */
  get isRemote(): boolean {
    return this.#isRemote;
  }

  /** Whether the last value was received or confirmed within the last second. */
  get isRecent(): boolean {
    return this.#deps.clock.now() - this.#heardAt < warmMs;
  }

  /** Whether anything can be under the URI; `undefined` until that is known. */
  get isThere(): boolean | undefined {
    return this.#isThere;
  }

  /** Number of changes. A value that is the same after its connection was lost is not one. */
  get version(): number {
    return this.#version;
  }

  /** Identifies the last value; `undefined` if there is none. */
  get digest(): string | undefined {
    if (this.#seen === undefined) return undefined;
    const { value } = this.#seen;
    if (this.#digest === undefined || !Object.is(this.#digest.of, value)) {
      this.#digest = { of: value, digest: digestOf(toDistinct(this.write(value))) };
    }
    return this.#digest.digest;
  }

  /** Takes note of a read: either it confirms the newest value of the watch, or it shows that the watch is behind. */
  compare(content: ResourceContent | undefined, { latest, changes, begunAt }: Known): void {
    const known = latest && this.write(latest.value);
    this.#isOvertaken = known === undefined || !isSameContent(known.content, content);
    if (this.#seenAfter !== never) this.#seenAfter = this.#isOvertaken ? doubted : changes;
    this.#heardAt = Math.max(this.#heardAt, begunAt);
  }

  /** Opens its stream for the spine. @param link - left out for a resource of this process. */
  open(link: OpenedLink | undefined, events: WatchEvents<unknown>): () => void {
    const openedAfter = this.#deps.changes.count;
    this.#link = link;
    this.#isOvertaken = false;
    this.#isRemote = link?.isRemote === true;
    let isSnapshot = true;
    const heard: WatchEvents<unknown> = {
      value: (value) => {
        this.#isThere = true;
        // Opened again after a failure, but with nothing to read yet: no news, and it may fail in the same way.
        if (this.#hasFailed && this.write(value) === undefined) return;
        this.#hasFailed = false;
        this.#see(value, isSnapshot);
        this.#heardAt = this.#deps.clock.now();
        // The snapshot is read after the stream was opened. A later value may have been read before a call that has ended meanwhile.
        if (isSnapshot && !this.#isOvertaken) this.#seenAfter = openedAfter;
        isSnapshot = false;
        events.value(value);
      },
      ended: () => {
        this.#isThere = true;
        // A read starts the source again, and may find another value.
        this.#seenAfter = never;
        events.ended();
      },
      failed: (lasting, wasThere) => {
        this.#isThere = !lasting || wasThere === true;
        this.#hasFailed = true;
        events.failed(lasting);
      },
    };
    return pump((signal) => this.#follow(link, signal), heard, link);
  }

  /** Makes the owner read the source once. `undefined` if the resource has no source. */
  refresh(signal: AbortSignal): Promise<unknown> | undefined {
    const { watch } = this.#deps;
    return this.#link === undefined || "followHere" in watch
      ? undefined
      : watch.refresh?.(this.#link.channel, { signal });
  }

  /** Writes a value; `undefined` if it cannot be written, or holds nothing to read yet. */
  write(value: unknown): Written | undefined {
    const last = this.#written;
    if (last !== undefined && Object.is(last.of, value)) return last.written;
    let written: Written | undefined;
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
    throw new SurfaceError("UNAVAILABLE", "Following a resource: it is behind a link, and there is none");
  }

  #see(value: unknown, isSnapshot: boolean): void {
    const before = this.#seen;
    this.#seen = { value };
    if (before === undefined) return;
    // Only snapshots are compared. A stream repeats a value if a reader has seen another one in between: that is a change.
    if (isSnapshot && this.#isSame(before.value, value)) return;
    this.#version += 1;
  }

  #isSame(before: unknown, value: unknown): boolean {
    return Object.is(before, value) || toDistinct(this.write(before)) === toDistinct(this.write(value));
  }
}
