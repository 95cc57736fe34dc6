import { SurfaceError } from "../../errors.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { LinkedAbort, createAbortedError } from "../../spine/signals.ts";
import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { systemClock } from "../system-clock.ts";
import { Feed, FeedPool, type Run } from "./feed.ts";
import { HandlerRunner, type StreamHandler } from "./listening.ts";
import type { OwnerDeps } from "./handler-context.ts";
import { nextTurn } from "./waiting.ts";

/** Milliseconds after its last use until the shared iteration is ended: a reader who polls finds it running. */
const idleMs = 30_000;

/** Milliseconds for which a read takes further frames of a run that does not pause. */
const followMs = 50;

interface Frame {
  readonly value: unknown;
}

function newestOf({ ring }: Feed, { after }: Run): Frame | undefined {
  return ring.last > after ? ring.newest : undefined;
}

/** Owns the handler of a stream: opens it for each listener, and keeps the newest frame of every input in use. */
export class StreamOwner {
  readonly kind = "stream";
  readonly #runner: HandlerRunner;
  readonly #deps: OwnerDeps;
  readonly #feeds: FeedPool;
  readonly #hasNoInput: boolean;

  constructor(member: MemberOfKind<"stream">, handler: StreamHandler, deps: OwnerDeps) {
    const { scope } = deps;
    this.#hasNoInput = member.input === undefined;
    this.#deps = deps;
    const runner = new HandlerRunner(member, handler, deps);
    this.#runner = runner;
    this.#feeds = new FeedPool((input) => new Feed({ capacity: 1, idleMs, scope, open: () => runner.open(input) }));
  }

  start(): void {
    if (this.#hasNoInput) this.#feeds.start(undefined);
  }

  /** Returns every frame, for one listener: each has its own iteration. */
  open(input: unknown, use: UseOptions): AsyncIterable<unknown> {
    return this.#runner.openUnchecked(input, use);
  }

  /**
   * Returns the newest frame of a shared iteration, which runs until a while after its last use. Frames of an earlier run are no answer.
   * Waits for the first frame, and takes those that follow without a pause.
   * @throws SurfaceError `ABSENT` when this run ended without a frame, `ABORTED`, `CLOSED`, `VALIDATION_ERROR`, `INTERNAL`.
   */
  async latest(input: unknown, use: UseOptions): Promise<unknown> {
    const valid = await this.#runner.input(input);
    return this.#feeds.use(valid, async (feed) => (await this.#read(feed, use)).value);
  }

  /** Yields the newest frame of the shared iteration as a list of none or one, and each newer one; may skip. Ends with the iteration. */
  watchLatest(input: unknown, use: UseOptions): AsyncIterable<readonly unknown[]> {
    const { scope } = this.#deps;
    return new OwnedIterator({ open: (signal) => this.#follow(input, signal), scope, signal: use.signal });
  }

  async *#follow(input: unknown, signal: AbortSignal): AsyncGenerator<readonly unknown[]> {
    const valid = await this.#runner.input(input);
    // The watcher has left meanwhile: the handler must not start.
    if (signal.aborted) return;
    const { feed, release } = this.#feeds.hold(valid, "watch");
    try {
      yield* this.#frames(feed, signal);
    } finally {
      release();
    }
  }

  async *#frames(feed: Feed, signal: AbortSignal): AsyncGenerator<readonly unknown[]> {
    const run = feed.ensure();
    let shown = feed.ring.last;
    yield newestOf(feed, run) === undefined ? [] : feed.ring.values();
    while (!signal.aborted) {
      if (feed.ring.last > shown) {
        shown = feed.ring.last;
        yield feed.ring.values();
      } else if (run.end === undefined) await feed.changes.next(signal);
      else break;
    }
    if (run.end?.failure !== undefined) throw run.end.failure.error;
  }

  async #read(feed: Feed, use: UseOptions): Promise<Frame> {
    const begun = feed.runs;
    const abort = new LinkedAbort(use.signal, this.#deps.scope.signal);
    const { signal } = abort;
    let run = feed.ensure();
    try {
      await this.#firstFrames(feed, run, signal);
      // The run began before this read and has ended, so its frames may be older than the read.
      if (run.end !== undefined && run.number <= begun && !signal.aborted) {
        run = feed.ensure();
        await this.#firstFrames(feed, run, signal);
      }
    } finally {
      abort.dispose();
    }
    const newest = newestOf(feed, run);
    if (newest !== undefined) return newest;
    if (signal.aborted) throw createAbortedError(signal, `Reading ${this.#runner.where}`);
    throw new SurfaceError("ABSENT", `Cannot read ${this.#runner.where}: it ended without a frame`);
  }

  /** Waits for the first frame of a run, then for frames that follow without a pause, for at most {@link followMs}. */
  async #firstFrames(feed: Feed, run: Run, signal: AbortSignal): Promise<void> {
    const { ring } = feed;
    const isOver = (): boolean => run.end !== undefined || signal.aborted;
    while (ring.last <= run.after && !isOver()) await feed.changes.next(signal);
    const until = systemClock.now() + followMs;
    for (let seen = run.after; ring.last > seen && !isOver() && systemClock.now() < until;) {
      seen = ring.last;
      // A frame takes a few microtasks from the handler's `yield` into the ring.
      await nextTurn();
    }
  }
}
