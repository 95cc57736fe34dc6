import { followSignal } from "../spine/follow-signal.ts";
import { toAborted } from "../spine/until-aborted.ts";
import type { Caller } from "../surface/caller.ts";
import { writeCursor, type Mark, type ReadMarks } from "./change-cursor.ts";
import type { Resolved } from "./resolve-uri.ts";
import type { ResourceWatches, Wanted, Watching } from "./resource-watches.ts";
import type { WatchedResource } from "./watched-resource.ts";

/** What a wait comes to. */
export interface ChangeAnswer {
  readonly status: "changed" | "timed_out";
  /** The URIs that changed, as they were asked for. */
  readonly changed: readonly string[];
  readonly cursor: string;
  readonly reset?: true;
}

/** The same, and what of it is gone: whoever waited for that is not told that it was never there. */
export interface WaitOutcome extends ChangeAnswer {
  readonly gone: ReadonlySet<string>;
}

/** What one wait is made of. */
export interface ChangeWaitSetting {
  /** What is waited for, by URI. */
  readonly resources: ReadonlyMap<string, Resolved>;
  /** Who waits. */
  readonly caller: Caller;
  /** Where to go on; nothing: from now on. */
  readonly marks: ReadMarks | undefined;
  readonly timeoutMs: number;
  /** The cursor was none that could be read: answers as soon as there is a new one. */
  readonly reset: boolean;
  readonly signal: AbortSignal;
  readonly watches: ResourceWatches;
  /** Tells when one of them may have come to be gone, or hidden. Returns what stops that. */
  readonly onShown: (told: (why: "rules" | "resources") => void) => () => void;
  /** Whether its caller may read it now. */
  readonly isShown: (uri: string) => boolean;
  /** Told of each resource when there is an answer, and before its watch is let go. */
  readonly answered: (wanted: Wanted) => void;
}

interface Item {
  readonly uri: string;
  readonly resource: WatchedResource;
  readonly base: Mark;
  isShown: boolean;
  /** It was there, and is not any more: that is a change. */
  isGone: boolean;
  /** Whether the read that joining the watch takes has ended. */
  isFresh: boolean;
}

/** How long an answer is kept back for values that are not known yet, so that its cursor can tell them from others. */
const graceMs = 500;

function markOf({ epoch, version, digest }: WatchedResource): Mark {
  return { epoch, version, digest };
}

/** Whether there was a change after the base. Where the watch has lapsed in between, only the values can tell. */
function hasChanged({ base, resource, isGone }: Item): boolean {
  if (isGone) return true;
  if (base.epoch === resource.epoch) return resource.version > base.version;
  if (resource.seen === undefined) return false;
  // A value that was never known is not known to be the same.
  return base.digest === undefined || base.digest !== resource.digest;
}

/** One wait for a change of any of several resources. */
export class ChangeWait {
  readonly #setting: ChangeWaitSetting;
  readonly #items: Item[] = [];
  readonly #watchings: Watching[] = [];
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isLate = false;
  #leaveSignal: () => void = () => {};
  #leaveShown: () => void = () => {};
  #resolve: (answer: WaitOutcome) => void = () => {};
  #reject: (cause: unknown) => void = () => {};

  constructor(setting: ChangeWaitSetting) {
    this.#setting = setting;
  }

  /** Waits. @throws SurfaceError `ABORTED`, or what {@link fail} was given. */
  async run(): Promise<WaitOutcome> {
    const { signal } = this.#setting;
    const answer = new Promise<WaitOutcome>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#leaveSignal = followSignal(signal, () => this.fail(toAborted(signal, "Waiting for a change")));
    try {
      this.#begin();
      return await answer;
    } finally {
      this.#end();
    }
  }

  /** Ends it without an answer. */
  fail(cause: unknown): void {
    this.#reject(cause);
  }

  #begin(): void {
    const { resources, caller, marks, reset, timeoutMs, watches } = this.#setting;
    for (const [uri, resolved] of resources) {
      const watching = watches.join({ uri, resolved, caller }, { moved: () => this.#look() });
      this.#watchings.push(watching);
      const { resource } = watching;
      const base = marks?.of(uri) ?? markOf(resource);
      const item: Item = { uri, resource, base, isShown: true, isGone: false, isFresh: true };
      this.#items.push(item);
      // The watch that this cursor names has run since, and knows every change.
      if (marks?.of(uri)?.epoch !== resource.epoch) this.#refresh(item, watching);
    }
    this.#leaveShown = this.#setting.onShown((why) => this.#lookForGone(why));
    this.#arm(reset ? 0 : timeoutMs);
    this.#look();
  }

  #refresh(item: Item, watching: Watching): void {
    const refreshed = watching.refresh();
    if (refreshed === undefined) return;
    item.isFresh = false;
    void refreshed.then(() => {
      item.isFresh = true;
      this.#look();
    });
  }

  #arm(delayMs: number): void {
    this.#timer = setTimeout(() => this.#onTime(), delayMs);
  }

  #onTime(): void {
    this.#isLate = true;
    const left = graceMs - (performance.now() - this.#startedAt);
    if (left < 1) return this.#settle([]);
    this.#arm(left);
    this.#look();
  }

  #look(): void {
    const { size } = this.#setting.resources;
    // Told while it begins: it looks at the end of that.
    if (this.#items.length < size) return;
    const changed = this.#items.filter(hasChanged);
    const isEnough =
      this.#isLate && this.#items.every(({ resource, isFresh }) => isFresh && resource.seen !== undefined);
    if (changed.length > 0 || isEnough) this.#settle(changed);
  }

  /** What rules hide is told to nobody, and is gone to nobody when it goes after that. */
  #lookForGone(why: "rules" | "resources"): void {
    const { caller, resources, watches, isShown } = this.#setting;
    for (const item of this.#items) {
      const { uri, isShown: wasShown } = item;
      const resolved = resources.get(uri);
      item.isShown = isShown(uri);
      if (why === "rules" || !wasShown || item.isShown || resolved === undefined) continue;
      // Whoever knows already that there is nothing is told nothing new.
      item.isGone ||= !watches.isAbsent({ uri, resolved, caller });
    }
    this.#look();
  }

  #settle(changed: readonly Item[]): void {
    const { resources, caller, answered, reset } = this.#setting;
    for (const [uri, resolved] of resources) answered({ uri, resolved, caller });
    const marks = new Map(this.#items.map((item) => [item.uri, toMark(item)]));
    this.#resolve({
      status: changed.length > 0 ? "changed" : "timed_out",
      changed: changed.map(({ uri }) => uri),
      gone: new Set(changed.flatMap(({ uri, isGone }) => (isGone ? [uri] : []))),
      cursor: writeCursor(marks),
      ...(reset ? { reset: true } : {}),
    });
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#leaveSignal();
    this.#leaveShown();
    for (const watching of this.#watchings) watching.end();
  }
}

/** Where the next wait goes on: at what is known now, or, where nothing is, still at where this one began. */
function toMark({ resource, base }: Item): Mark {
  return resource.seen === undefined ? base : markOf(resource);
}
