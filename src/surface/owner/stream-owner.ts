import { SurfaceError } from "../../errors.ts";
import { LinkedAbort } from "../../spine/linked-abort.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { toAborted } from "../../spine/until-aborted.ts";
import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { Feed } from "./feed.ts";
import { FeedPool } from "./feed-pool.ts";
import { Listening, type ListenHandler } from "./listening.ts";
import type { OwnerSetting } from "./owner.ts";

/**
 * How long after its last use a shared iteration goes on, in milliseconds: a reader who polls finds it running, and a
 * handler that never waits does not keep a processor busy for nobody.
 */
const idleMs = 30_000;

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
   * The newest frame of a shared iteration, which runs from the first question on, and until a while after the last;
   * waits for the first frame. When the iteration has ended, the answer is its last frame, and it is started anew.
   *
   * When it was at rest, it is started anew and waited for: the frame of before may be long out of date, and is the
   * answer only when the handler now ends without another.
   *
   * @throws SurfaceError `ABSENT` when the stream ended without a frame, `ABORTED` when the signal fired first, `CLOSED`
   * when the surface closed first, `VALIDATION_ERROR` for an input that does not fit, `INTERNAL` when the handler fails.
   */
  async latest(input: unknown, use: UseOptions): Promise<unknown> {
    const valid = await this.#listening.input(input);
    return this.#feeds.use(valid, (feed) => this.#read(feed, use)).then(({ value }) => value);
  }

  /**
   * The newest frame of the shared iteration, as a list of none or one: at once, then after each newer one, skipping what
   * nobody waited for. An iteration that is not running is started; a frame of before a rest is shown only when it ends
   * without another. Ends when the iteration does, and fails when that fails; started anew by whoever watches next.
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
    yield feed.fresh ? feed.ring.values() : [];
    while (!signal.aborted) {
      if (feed.ring.last > shown) {
        shown = feed.ring.last;
        yield feed.ring.values();
      } else if (run.end === undefined) await feed.change(signal);
      else break;
    }
    if (run.end?.failure !== undefined) throw run.end.failure.error;
    if (!feed.fresh && shown > 0) yield feed.ring.values();
  }

  #read(feed: Feed, use: UseOptions): { readonly value: unknown } | Promise<{ readonly value: unknown }> {
    // One that has ended is started anew: unlike what happened, what is may have changed since.
    feed.ensure();
    return (feed.fresh ? this.#newest(feed) : undefined) ?? this.#next(feed, use);
  }

  #newest({ ring }: Feed): { readonly value: unknown } | undefined {
    return ring.newest;
  }

  async #next(feed: Feed, use: UseOptions): Promise<{ readonly value: unknown }> {
    const abort = new LinkedAbort(use.signal, this.#setting.scope.signal);
    const { signal } = abort;
    try {
      while (!feed.fresh && feed.running && !signal.aborted) await feed.change(signal);
    } finally {
      abort.dispose();
    }
    if (signal.aborted && !feed.fresh) throw toAborted(signal, `Reading ${this.#where}`);
    const newest = this.#newest(feed);
    if (newest !== undefined) return newest;
    throw new SurfaceError("ABSENT", `Reading ${this.#where}: it ended without a frame`);
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
