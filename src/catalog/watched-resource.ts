import { SurfaceError } from "../errors.ts";
import { pump } from "../links/pump.ts";
import type { OpenedLink } from "../links/dial-link.ts";
import type { Clock } from "../spine/clock.ts";
import type { WatchEvents } from "../spine/shared-watch.ts";
import type { Caller } from "../surface/caller.ts";
import { digestOf } from "./change-cursor.ts";
import type { ResourceContent, ResourceWatch } from "./entry.ts";
import { isSameContent, toDistinctText } from "./resource-content.ts";

/** A value, written: `undefined` for nothing under the URI. */
export interface Written {
  readonly content: ResourceContent | undefined;
}

/** What is known when something has been read. */
interface Known {
  /** What the watch knows. */
  readonly latest: { readonly value: unknown } | undefined;
  /** How many calls that may have changed something had ended when the read began. */
  readonly changes: number;
  /** When the read began, by the clock of the watch. */
  readonly begunAt: number;
}

/** Counts the calls that have ended and may have changed something. */
export interface ChangeCount {
  count: number;
}

/** What a {@link WatchedResource} is made of. */
export interface WatchedSetting {
  readonly watch: ResourceWatch;
  /** For whom it is watched, where it is not the same for all. */
  readonly caller: Caller;
  /** Names its life: from its first watcher to its last. */
  readonly epoch: string;
  readonly changes: ChangeCount;
  readonly clock: Clock;
}

/** Of what has ended, nothing is known to be the newest. */
const never = -1;

/** While a read has told more than the watch, the value of the watch is not the newest. */
const doubted = -2;

/**
 * Milliseconds for which a value answers reads after it was heard or read: a source behind a link may be one that never
 * tells of a change, so that its watch would say the same for ever.
 */
const warmMs = 1000;

function isSame(left: Written | undefined, right: Written | undefined): boolean {
  return toDistinct(left) === toDistinct(right);
}

/** A text for each thing that can be said of a value; no two that differ share one. */
function toDistinct(written: Written | undefined): string {
  if (written === undefined) return "unknown";
  return written.content === undefined ? "absent" : toDistinctText(written.content);
}

type Followed = Pick<WatchedSetting, "watch" | "caller">;

function follow(
  { watch, caller }: Followed,
  link: OpenedLink | undefined,
  signal: AbortSignal,
): AsyncIterable<unknown> {
  if ("followHere" in watch) return watch.followHere({ signal, caller });
  if (link !== undefined) return watch.follow(link.channel, { signal });
  throw new SurfaceError("UNAVAILABLE", "Following a resource: it is behind a link, and there is none");
}

/**
 * What is known of one resource for as long as it is watched: the value that was seen last, how often it has changed, and
 * what it is written as, once a value.
 */
export class WatchedResource {
  readonly epoch: string;
  readonly #followed: Followed;
  readonly #changes: ChangeCount;
  readonly #clock: Clock;
  #seenAfter = 0;
  /** When the last value was heard, or a read began that found the same one. */
  #heardAt = 0;
  /** Whether its stream comes from another process. */
  #isRemote = false;
  /** Whether a read has told something since the stream was opened that the stream has not. */
  #isOvertaken = false;
  #seen: { readonly value: unknown } | undefined;
  /** Whether it has failed since its last value. */
  #hasFailed = false;
  #version = 0;
  #isThere: boolean | undefined;
  #digest: { readonly of: unknown; readonly digest: string } | undefined;
  #link: OpenedLink | undefined;
  #written: { readonly of: unknown; readonly written: Written | undefined } | undefined;

  constructor(setting: WatchedSetting) {
    this.#followed = setting;
    this.#changes = setting.changes;
    this.#clock = setting.clock;
    this.epoch = setting.epoch;
  }

  /** The value that was seen last, also while its connection is lost. */
  get seen(): { readonly value: unknown } | undefined {
    return this.#seen;
  }

  /**
   * After how many calls that may have changed something the last value is known to be the newest: as many as had ended
   * when the stream was opened, or when the value was read once more. Values that come by themselves do not count: the
   * owner may have read them before a call took effect, and sent them behind its answer.
   */
  get seenAfter(): number {
    return this.#seenAfter;
  }

  /** Whether it comes from another process. Everything else is asked by each read: a source need not tell of changes. */
  get isRemote(): boolean {
    return this.#isRemote;
  }

  /** Whether its last value was heard or confirmed within the last second. */
  get isRecent(): boolean {
    return this.#clock.now() - this.#heardAt < warmMs;
  }

  /**
   * Something was read, after so many calls. Where it is what the watch knows, that is the newest. Otherwise the read has
   * overtaken the watch, and what that knows, or is about to know, may be older than what was told now.
   */
  compare(content: ResourceContent | undefined, { latest, changes, begunAt }: Known): void {
    const known = latest && this.write(latest.value);
    this.#isOvertaken = known === undefined || !isSameContent(known.content, content);
    if (this.#seenAfter !== never) this.#seenAfter = this.#isOvertaken ? doubted : changes;
    this.#heardAt = Math.max(this.#heardAt, begunAt);
  }

  /** Whether anything can be under the URI; `undefined` until its stream has told. */
  get isThere(): boolean | undefined {
    return this.#isThere;
  }

  /** How many changes have been seen. A value that comes back unchanged after its connection was lost is none. */
  get version(): number {
    return this.#version;
  }

  /** Follows it for the spine: over a link, or without one where the face itself has it. */
  open(link: OpenedLink | undefined, events: WatchEvents<unknown>): () => void {
    const openedAfter = this.#changes.count;
    this.#link = link;
    this.#isOvertaken = false;
    this.#isRemote = link?.isRemote === true;
    let isSnapshot = true;
    const heard: WatchEvents<unknown> = {
      value: (value) => {
        this.#isThere = true;
        // Opened again after a failure, with nothing to read yet: no news, and it may fail the same way at once.
        if (this.#hasFailed && this.write(value) === undefined) return;
        this.#hasFailed = false;
        this.#see(value, isSnapshot);
        this.#heardAt = this.#clock.now();
        // The snapshot is read after it was asked for. A later value may have been read at any time before it came, and
        // says nothing of a call that ended meanwhile.
        if (isSnapshot && !this.#isOvertaken) this.#seenAfter = openedAfter;
        isSnapshot = false;
        events.value(value);
      },
      ended: () => {
        this.#isThere = true;
        // Reading it starts it anew: its last value is the newest only of what was watched.
        this.#seenAfter = never;
        events.ended();
      },
      failed: (lasting, wasThere) => {
        this.#isThere = !lasting || wasThere === true;
        this.#hasFailed = true;
        events.failed(lasting);
      },
    };
    return pump((signal) => follow(this.#followed, link, signal), heard, link);
  }

  /** Whether the resource has a source that {@link refresh} reads. */
  get canRefresh(): boolean {
    const { watch } = this.#followed;
    return this.#link !== undefined && !("followHere" in watch) && watch.refresh !== undefined;
  }

  /** Has the owner read the source once. `undefined` if the resource has no source. */
  refresh(signal: AbortSignal): Promise<unknown> | undefined {
    const { watch } = this.#followed;
    if (this.#link === undefined || "followHere" in watch) return undefined;
    return watch.refresh?.(this.#link.channel, { signal });
  }

  /** What a value is written as; `undefined` where it cannot be written, or says nothing yet. */
  write(value: unknown): Written | undefined {
    const last = this.#written;
    if (last !== undefined && Object.is(last.of, value)) return last.written;
    const written = this.#render(value);
    this.#written = { of: value, written };
    return written;
  }

  /** Tells the value that was seen last from others; `undefined` where none was. */
  get digest(): string | undefined {
    if (this.#seen === undefined) return undefined;
    const { value } = this.#seen;
    if (this.#digest === undefined || !Object.is(this.#digest.of, value)) {
      this.#digest = { of: value, digest: digestOf(toDistinct(this.write(value))) };
    }
    return this.#digest.digest;
  }

  #render(value: unknown): Written | undefined {
    try {
      return { content: this.#followed.watch.render(value) };
    } catch {
      // Reading it finds the same, and tells the log.
      return undefined;
    }
  }

  #see(value: unknown, isSnapshot: boolean): void {
    const before = this.#seen;
    this.#seen = { value };
    if (before === undefined) return;
    // Only snapshots are compared. A stream repeats a value if a reader has seen another one in between: that is a change.
    if (isSnapshot && (Object.is(before.value, value) || isSame(this.write(before.value), this.write(value)))) return;
    this.#version += 1;
  }
}
