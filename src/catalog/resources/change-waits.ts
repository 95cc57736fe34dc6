import { Refusal, SurfaceError } from "../../errors.ts";
import { followSignal, toAborted } from "../../spine/signals.ts";
import type { Caller } from "../../surface/caller.ts";
import { readCursor, writeCursor, type Mark, type ReadMarks } from "./change-cursor.ts";
import type { EntryCall } from "../entry.ts";
import { LingeringWatches } from "./lingering-watches.ts";
import type { Resolved } from "../resolve-uri.ts";
import type { ResourceWatches, Watching } from "./resource-watches.ts";
import type { WatchedResource } from "./watched-resource.ts";

/** The input of one wait. */
export interface ChangeRequest {
  readonly uris: readonly string[];
  /** The cursor of an earlier answer. */
  readonly since: string | undefined;
  readonly timeoutMs: number;
}

/** The result of one wait. */
export interface ChangeAnswer {
  readonly status: "changed" | "timed_out";
  /** The URIs that changed, as they were given. */
  readonly changed: readonly string[];
  readonly cursor: string;
  /** Set if the cursor could not be read. */
  readonly reset?: true;
}

/** Dependencies of {@link ChangeWaits}. */
export interface ChangeWaitsDeps {
  readonly watches: ResourceWatches;
  /** Finds a resource; `undefined` if the caller may not read it. */
  readonly find: (uri: string, caller: Caller) => Resolved | undefined;
  /** Calls `changed` when `find` may return something else. Returns a function that stops it. */
  readonly onShown: (changed: (why: "rules" | "resources") => void) => () => void;
}

/** Creates the refusal of a URI without a resource: one text whether it is unknown, not exposed or malformed. */
export function noSuchResource(uri: string): Refusal {
  return new Refusal("NOT_FOUND", `there is no resource "${uri}": the description of read_resource lists them`);
}

/** Milliseconds for which an answer waits for values that are not known yet: without them its cursor would not recognise a change. */
const graceMs = 500;

/** One wait. */
interface WaitInput {
  readonly resources: ReadonlyMap<string, Resolved>;
  readonly caller: Caller;
  /** The positions of the cursor. Left out: the wait starts now. */
  readonly marks: ReadMarks | undefined;
  readonly timeoutMs: number;
  /** Whether the cursor could not be read: the wait then only makes a new one. */
  readonly reset: boolean;
  readonly signal: AbortSignal;
}

interface WaitDeps extends ChangeWaitsDeps {
  readonly lingering: LingeringWatches;
}

interface WaitOutcome {
  readonly answer: ChangeAnswer;
  /** The URIs that changed because their resource was removed. */
  readonly gone: ReadonlySet<string>;
}

/** One resource of a wait. */
interface Item {
  readonly uri: string;
  readonly resolved: Resolved;
  readonly watching: Watching;
  readonly base: Mark;
  isShown: boolean;
  /** Whether its resource was removed during the wait. */
  isGone: boolean;
  /** Whether the read that joining a watch takes has ended. */
  isFresh: boolean;
}

function markOf({ epoch, version, digest }: WatchedResource): Mark {
  return { epoch, version, digest };
}

/** Whether there was a change after the base. If the watch lapsed in between, the values decide. */
function hasChanged({ base, watching, isGone }: Item): boolean {
  const { resource } = watching;
  if (isGone) return true;
  if (base.epoch === resource.epoch) return resource.version > base.version;
  if (resource.seen === undefined) return false;
  // An unknown value may be another one.
  return base.digest === undefined || base.digest !== resource.digest;
}

class ChangeWait {
  readonly #input: WaitInput;
  readonly #deps: WaitDeps;
  readonly #items: Item[] = [];
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isLate = false;
  #resolve: (outcome: WaitOutcome) => void = () => {};
  #reject: (cause: unknown) => void = () => {};

  constructor(input: WaitInput, deps: WaitDeps) {
    this.#input = input;
    this.#deps = deps;
  }

  /** @throws SurfaceError `ABORTED`, or the cause given to {@link fail}. */
  async run(): Promise<WaitOutcome> {
    const { signal, timeoutMs, reset } = this.#input;
    const outcome = new Promise<WaitOutcome>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const leaveSignal = followSignal(signal, () => this.fail(toAborted(signal, "Waiting for a change")));
    let leaveShown: (() => void) | undefined;
    try {
      for (const [uri, resolved] of this.#input.resources) this.#add(uri, resolved);
      leaveShown = this.#deps.onShown((why) => this.#lookForGone(why));
      this.#arm(reset ? 0 : timeoutMs);
      this.#look();
      return await outcome;
    } finally {
      clearTimeout(this.#timer);
      leaveSignal();
      leaveShown?.();
      for (const { watching } of this.#items) watching.end();
    }
  }

  fail(cause: unknown): void {
    this.#reject(cause);
  }

  #add(uri: string, resolved: Resolved): void {
    const { caller, marks } = this.#input;
    const watching = this.#deps.watches.join({ uri, resolved, caller }, { moved: () => this.#look() });
    const mark = marks?.of(uri);
    const base = mark ?? markOf(watching.resource);
    const item: Item = { uri, resolved, watching, base, isShown: true, isGone: false, isFresh: true };
    this.#items.push(item);
    // A watch that has run since the cursor was made knows every change.
    if (mark?.epoch === watching.resource.epoch) return;
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
    // run() looks when all resources are watched.
    if (this.#items.length < this.#input.resources.size) return;
    const changed = this.#items.filter(hasChanged);
    const isKnown = ({ watching, isFresh }: Item): boolean => isFresh && watching.resource.seen !== undefined;
    if (changed.length > 0 || (this.#isLate && this.#items.every(isKnown))) this.#settle(changed);
  }

  /** A resource that rules hide is reported to no one, not even when it is removed after that. */
  #lookForGone(why: "rules" | "resources"): void {
    const { caller } = this.#input;
    const { find, watches } = this.#deps;
    for (const item of this.#items) {
      const { uri, resolved, isShown: wasShown } = item;
      item.isShown = find(uri, caller) !== undefined;
      if (why === "rules" || !wasShown || item.isShown) continue;
      // No news for a caller who knows the resource as absent.
      item.isGone ||= !watches.isAbsent({ uri, resolved, caller });
    }
    this.#look();
  }

  #settle(changed: readonly Item[]): void {
    const { caller, reset } = this.#input;
    // Kept before the watches of this wait end, so that they do not lapse.
    for (const { uri, resolved } of this.#items) this.#deps.lingering.keep({ uri, resolved, caller });
    const answer: ChangeAnswer = {
      status: changed.length > 0 ? "changed" : "timed_out",
      changed: changed.map(({ uri }) => uri),
      cursor: writeCursor(new Map(this.#items.map((item) => [item.uri, toMark(item)]))),
      ...(reset ? { reset: true } : {}),
    };
    this.#resolve({ answer, gone: new Set(changed.filter(({ isGone }) => isGone).map(({ uri }) => uri)) });
  }
}

/** Returns the position at which the next wait goes on: here, or the same again while no value is known. */
function toMark({ watching, base }: Item): Mark {
  return watching.resource.seen === undefined ? base : markOf(watching.resource);
}

/**
 * Lets callers wait until a resource changes, and continue from a cursor. A watch lingers after a wait, so that a caller who waits again
 * and again misses no change. Call `close()` when done.
 */
export class ChangeWaits {
  readonly #deps: WaitDeps;
  readonly #running = new Set<ChangeWait>();
  #isClosed = false;

  constructor(deps: ChangeWaitsDeps) {
    this.#deps = { ...deps, lingering: new LingeringWatches(deps.watches) };
  }

  /**
   * Waits until one of the resources changes, or time is up.
   *
   * @throws Refusal `NOT_FOUND` naming the first URI without a resource.
   * @throws SurfaceError `OVERFLOW` when too much is watched already, `ABORTED` when the signal fires, `CLOSED` when this is closed.
   */
  async wait(request: ChangeRequest, { caller, signal }: Pick<EntryCall, "caller" | "signal">): Promise<ChangeAnswer> {
    if (this.#isClosed) throw createClosed();
    const { since, timeoutMs } = request;
    const resources = this.#resolve(request.uris, caller);
    if (!this.#deps.watches.hasRoom(resources.keys(), caller)) {
      throw new SurfaceError("OVERFLOW", "Waiting for a change: too many resources are watched");
    }
    const marks = since === undefined ? undefined : readCursor(since);
    const reset = since !== undefined && marks === undefined;
    const wait = new ChangeWait({ resources, caller, marks, timeoutMs, reset, signal }, this.#deps);
    this.#running.add(wait);
    try {
      const { answer, gone } = await wait.run();
      // A resource that was hidden meanwhile is refused like one that never existed.
      this.#resolve(
        answer.changed.filter((uri) => !gone.has(uri)),
        caller,
      );
      return answer;
    } finally {
      this.#running.delete(wait);
    }
  }

  /** Ends every wait and every watch. Callable twice. */
  close(): void {
    this.#isClosed = true;
    for (const wait of this.#running) wait.fail(createClosed());
    this.#deps.lingering.close();
  }

  /** Finds each resource once. */
  #resolve(uris: readonly string[], caller: Caller): ReadonlyMap<string, Resolved> {
    const found = new Map<string, Resolved>();
    for (const uri of uris) {
      const resolved = this.#deps.find(uri, caller);
      if (resolved === undefined) throw noSuchResource(uri);
      found.set(uri, resolved);
    }
    return found;
  }
}

function createClosed(): SurfaceError {
  return new SurfaceError("CLOSED", "Waiting for a change: the app is closed");
}
