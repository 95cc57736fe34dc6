import { SurfaceError } from "../../errors.ts";
import { LinkedAbort, toAborted } from "../../spine/signals.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { systemClock } from "../system-clock.ts";
import { Feed, type Run } from "./feed.ts";
import { FeedPool } from "./feed-pool.ts";
import { Listening, type ListenHandler } from "./listening.ts";
import type { OwnerSetting } from "./owner.ts";

/**
 * How long after its last use a shared iteration goes on, in milliseconds: a reader who polls finds it running, and a
 * handler that never waits does not keep a processor busy for nobody.
 */
const idleMs = 30_000;

/** Milliseconds for which a read takes further frames of a run that does not pause. */
const followMs = 50;

interface Frame {
  readonly value: unknown;
}

/** The newest frame that a run of the handler, or one after it, has yielded. */
function newestOf({ ring }: Feed, { after }: Run): Frame | undefined {
  return ring.last > after ? ring.newest : undefined;
}

/** Owns a stream's handler: opens it for each listener, and keeps the newest frame of every input in use. */
export class StreamOwner {
  readonly kind = "stream";
  readonly #listening: Listening;
  readonly #setting: OwnerSetting;
  readonly #feeds: FeedPool;
  readonly #where: string;
  readonly #hasNoInput: boolean;

  constructor(member: MemberOfKind<"stream">, handler: ListenHandler, setting: OwnerSetting) {
    this.#where = `stream "${setting.key}"`;
    this.#hasNoInput = member.input === undefined;
    this.#setting = setting;
    this.#listening = new Listening(member, handler, { ...setting, where: this.#where });
    this.#feeds = new FeedPool((input) => this.#feed(input));
  }

  /** Without input there is one newest frame, and its iteration runs from now on. */
  start(): void {
    if (this.#hasNoInput) this.#feeds.start(undefined);
  }

  /** Every frame, for one listener: each gets an iteration of its own. */
  open(input: unknown, use: UseOptions): AsyncIterable<unknown> {
    return this.#listening.openUnchecked(input, use);
  }

  /**
   * Returns the newest frame of a shared iteration, which runs from the first read until a while after the last. An
   * iteration that has ended or rests is started again: frames of an earlier run may be out of date, and are never the
   * answer. Waits for the first frame, and takes those that follow without a pause.
   *
   * @throws SurfaceError `ABSENT` when this run ended without a frame, `ABORTED` when the signal fired first, `CLOSED`
   * when the surface closed first, `VALIDATION_ERROR` for an input that does not fit, `INTERNAL` when the handler fails.
   */
  async latest(input: unknown, use: UseOptions): Promise<unknown> {
    const valid = await this.#listening.input(input);
    const { feed, release } = this.#feeds.hold(valid, "asked");
    try {
      return (await this.#read(feed, use)).value;
    } finally {
      release();
    }
  }

  /**
   * The newest frame of the shared iteration, as a list of none or one: at once, then after each newer one, skipping what
   * nobody waited for. An iteration that is not running is started; frames of an earlier run are not shown. Ends when the
   * iteration does, and fails when that fails; started anew by whoever watches next.
   */
  watchLatest(input: unknown, use: UseOptions): AsyncIterable<readonly unknown[]> {
    return new OwnedIterator({
      open: (signal) => this.#follow(input, signal),
      scope: this.#setting.scope,
      signal: use.signal,
    });
  }

  async *#follow(input: unknown, signal: AbortSignal): AsyncGenerator<readonly unknown[]> {
    const valid = await this.#listening.input(input);
    // Its watcher has gone meanwhile: the handler is not to start.
    if (signal.aborted) return;
    const { feed, release } = this.#feeds.hold(valid, "watched");
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
      } else if (run.end === undefined) await feed.change(signal);
      else break;
    }
    if (run.end?.failure !== undefined) throw run.end.failure.error;
  }

  /** Reads a feed that nothing of this read has begun yet. */
  async #read(feed: Feed, use: UseOptions): Promise<Frame> {
    const begun = feed.runs;
    const abort = new LinkedAbort(use.signal, this.#setting.scope.signal);
    const { signal } = abort;
    let run = feed.ensure();
    try {
      await this.#firstFrames(feed, run, signal);
      // It was under way when this read began, and has ended: its frames may be older than the read.
      if (run.end !== undefined && run.number <= begun && !signal.aborted) {
        run = feed.ensure();
        await this.#firstFrames(feed, run, signal);
      }
    } finally {
      abort.dispose();
    }
    const newest = newestOf(feed, run);
    if (newest !== undefined) return newest;
    if (signal.aborted) throw toAborted(signal, `Reading ${this.#where}`);
    throw new SurfaceError("ABSENT", `Reading ${this.#where}: it ended without a frame`);
  }

  /** Waits for the first frame of a run, then for frames that follow without a pause, for at most {@link followMs}. */
  async #firstFrames(feed: Feed, run: Run, signal: AbortSignal): Promise<void> {
    const { ring } = feed;
    const isOver = (): boolean => run.end !== undefined || signal.aborted;
    while (ring.last <= run.after && !isOver()) await feed.change(signal);
    const until = systemClock.now() + followMs;
    for (let seen = run.after; ring.last > seen && !isOver() && systemClock.now() < until;) {
      seen = ring.last;
      await feed.said();
    }
  }

  #feed(input: unknown): Feed {
    return new Feed({
      capacity: 1,
      idleMs,
      scope: this.#setting.scope,
      open: () => this.#listening.open(input),
    });
  }
}
