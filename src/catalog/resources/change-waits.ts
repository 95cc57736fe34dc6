import { Refusal, SurfaceError } from "../../errors.ts";
import { followSignal, createAbortedError } from "../../spine/signals.ts";
import { type Caller, callerKey, visibleKey } from "../../surface/caller.ts";
import { unrefTimer } from "../../surface/system-clock.ts";
import type { EntryCall } from "../entry.ts";
import type { Resolved } from "../resolve-uri.ts";
import type { ResourceWatches, Wanted } from "./resource-watches.ts";
import type { WatchHandle } from "./watched-resource.ts";
import { shortHash, type Mark } from "./watched-resource.ts";

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

const maxCursorLength = 8192;
const markPattern = /^([\w-]{6})~([\w-]{8})?~([\w-]{1,24})~([0-9a-z]{1,10})$/;

function hashOf(uri: string): string {
  return shortHash(uri, 6);
}

/** Writes marks by URI as an opaque text. */
function writeCursor(marks: readonly (readonly [uri: string, mark: Mark])[]): string {
  const parts = marks.map(
    ([uri, { epoch, version, digest = "" }]) => `${hashOf(uri)}~${digest}~${epoch}~${version.toString(36)}`,
  );
  return parts.join(".");
}

/** Returns the function that finds the mark of a URI in a cursor; `undefined` for an invalid cursor. */
function readCursor(cursor: string): ((uri: string) => Mark | undefined) | undefined {
  if (cursor.length > maxCursorLength) return undefined;
  const marks = new Map<string, Mark>();
  for (const part of cursor.split(".")) {
    const [, hash, digest, epoch, version] = markPattern.exec(part) ?? [];
    if (hash === undefined || epoch === undefined || version === undefined) return undefined;
    marks.set(hash, { epoch, version: Number.parseInt(version, 36), digest });
  }
  return (uri) => marks.get(hashOf(uri));
}

/** Milliseconds for which a watch is kept: longer than an agent takes between two waits. */
const lingerMs = 30_000;

/** Watches that are kept; beyond it the oldest ends. */
const maxLingering = 256;

/** Watches that are kept for one caller who is known. */
const maxForOne = maxLingering / 4;

interface Lingering {
  readonly caller: Caller;
  readonly watching: WatchHandle;
  readonly timer: NodeJS.Timeout;
}

/** Keeps watches for a while, so that they do not lapse between one wait and the next. Call `close()` when done. */
export class LingeringWatches {
  readonly #watches: ResourceWatches;
  readonly #lingering = new Map<string, Lingering>();

  constructor(watches: ResourceWatches) {
    this.#watches = watches;
  }

  get size(): number {
    return this.#lingering.size;
  }

  keep(wanted: Wanted): void {
    const { uri, caller } = wanted;
    const key = JSON.stringify([visibleKey(caller), uri]);
    // Joined before the former watch ends, so that the shared one goes on.
    const watching = this.#watches.join(wanted, {});
    this.#end(key);
    const timer = unrefTimer(setTimeout(() => this.#end(key), lingerMs));
    this.#lingering.set(key, { caller, watching, timer });
    if (!caller.isAnonymous) this.#trim(maxForOne, (other) => callerKey(other) === callerKey(caller));
    this.#trim(maxLingering, () => true);
  }

  /** Ends all watches. Callable twice. */
  close(): void {
    for (const key of [...this.#lingering.keys()]) this.#end(key);
  }

  #trim(max: number, counts: (caller: Caller) => boolean): void {
    const counted = [...this.#lingering].filter(([, { caller }]) => counts(caller));
    const [oldest] = counted;
    if (counted.length > max && oldest !== undefined) this.#end(oldest[0]);
  }

  #end(key: string): void {
    const found = this.#lingering.get(key);
    if (found === undefined) return;
    this.#lingering.delete(key);
    clearTimeout(found.timer);
    found.watching.end();
  }
}

/** Milliseconds for which an answer waits for values that are not known yet: without them its cursor would not recognise a change. */
const graceMs = 500;

/** One wait. */
interface WaitInput {
  readonly resources: ReadonlyMap<string, Resolved>;
  readonly caller: Caller;
  /** Finds the marks of the cursor. Left out: the wait starts now. */
  readonly markOf: ((uri: string) => Mark | undefined) | undefined;
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
  readonly wanted: Wanted;
  readonly watching: WatchHandle;
  readonly base: Mark;
  isShown: boolean;
  /** Whether its resource was removed during the wait. */
  isGone: boolean;
  /** Whether the read that joining a watch takes has ended. */
  isFresh: boolean;
}

/** Returns whether there was a change after the base. If the watch lapsed in between, the values decide. */
function hasChanged({ base, watching: { resource }, isGone }: Item): boolean {
  if (isGone) return true;
  const { epoch, version, digest } = resource.mark;
  if (base.epoch === epoch) return version > base.version;
  if (resource.seen === undefined) return false;
  // An unknown value may be another one.
  return base.digest === undefined || base.digest !== digest;
}

function isKnown({ watching, isFresh }: Item): boolean {
  return isFresh && watching.resource.seen !== undefined;
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
    const { resources, signal, timeoutMs, reset } = this.#input;
    const outcome = new Promise<WaitOutcome>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const leaveSignal = followSignal(signal, () => this.fail(createAbortedError(signal, "Waiting for a change")));
    let leaveShown: (() => void) | undefined;
    try {
      for (const [uri, resolved] of resources) this.#add(uri, resolved);
      leaveShown = this.#deps.onShown((why) => this.#markGone(why));
      this.#arm(reset ? 0 : timeoutMs);
      this.#check();
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
    const { caller, markOf } = this.#input;
    const wanted = { uri, resolved, caller };
    const watching = this.#deps.watches.join(wanted, { moved: () => this.#check() });
    const mark = markOf?.(uri);
    const now = watching.resource.mark;
    const item: Item = { wanted, watching, base: mark ?? now, isShown: true, isGone: false, isFresh: true };
    this.#items.push(item);
    // A watch that has run since the cursor was made knows every change.
    const refreshed = mark?.epoch === now.epoch ? undefined : watching.refresh();
    if (refreshed === undefined) return;
    item.isFresh = false;
    void refreshed.then(() => {
      item.isFresh = true;
      this.#check();
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
    this.#check();
  }

  #check(): void {
    // run() checks once all resources are watched.
    if (this.#items.length < this.#input.resources.size) return;
    const changed = this.#items.filter(hasChanged);
    if (changed.length > 0 || (this.#isLate && this.#items.every(isKnown))) this.#settle(changed);
  }

  /** Marks removed resources. A resource that rules hide is reported to no one, not even when it is removed after that. */
  #markGone(why: "rules" | "resources"): void {
    const { find, watches } = this.#deps;
    for (const item of this.#items) {
      const { wanted, isShown: wasShown } = item;
      item.isShown = find(wanted.uri, wanted.caller) !== undefined;
      if (why === "rules" || !wasShown || item.isShown) continue;
      // Not a change for a caller who knows the resource as absent.
      item.isGone ||= !watches.isAbsent(wanted);
    }
    this.#check();
  }

  #settle(changed: readonly Item[]): void {
    // Kept before the watches of this wait end, so that they do not lapse.
    for (const { wanted } of this.#items) this.#deps.lingering.keep(wanted);
    const answer: ChangeAnswer = {
      status: changed.length > 0 ? "changed" : "timed_out",
      changed: changed.map(({ wanted }) => wanted.uri),
      cursor: writeCursor(this.#items.map((item) => [item.wanted.uri, nextMark(item)])),
      ...(this.#input.reset ? { reset: true } : {}),
    };
    const gone = new Set(changed.filter(({ isGone }) => isGone).map(({ wanted }) => wanted.uri));
    this.#resolve({ answer, gone });
  }
}

/** Returns the mark at which the next wait continues: the current one, or the same again while no value is known. */
function nextMark({ watching: { resource }, base }: Item): Mark {
  return resource.seen === undefined ? base : resource.mark;
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
      throw new SurfaceError("OVERFLOW", "Cannot wait for a change: too many resources are watched");
    }
    const markOf = since === undefined ? undefined : readCursor(since);
    const reset = since !== undefined && markOf === undefined;
    const wait = new ChangeWait({ resources, caller, markOf, timeoutMs, reset, signal }, this.#deps);
    this.#running.add(wait);
    try {
      const { answer, gone } = await wait.run();
      // A resource that was hidden meanwhile is refused like one that never existed.
      const left = answer.changed.filter((uri) => !gone.has(uri));
      this.#resolve(left, caller);
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
  return new SurfaceError("CLOSED", "Cannot wait for a change: the app is closed");
}
