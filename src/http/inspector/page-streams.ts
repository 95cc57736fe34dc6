import type { Clock } from "../../spine/clock.ts";
import type { EventSink, HttpReply } from "../message.ts";
import { eventStreamHeaders, KeepAlive, StallTimer } from "../sse.ts";
import type { PageSource } from "./page-source.ts";

/** Open streams. Their browsers have the cookie, so this bounds mistakes, not attacks. */
const maxStreams = 64;

const keepAliveMs = 15_000;

/** Milliseconds that a page may leave its stream unread: it was suspended, and connects again when it wakes. */
const stallMs = 60_000;

/** Dependencies of {@link PageStreams}. */
export interface PageStreamsDeps {
  readonly inspector: Pick<PageSource, "snapshot" | "subscribe">;
  readonly clock: Clock;
  /** Receives an error of the inspector. */
  readonly fail: (cause: unknown) => void;
}

/** One open stream: never more than one snapshot behind. While its reader is slow it gets nothing, and then a new snapshot. */
class PageStream {
  readonly sink: EventSink;
  readonly #deps: PageStreamsDeps;
  readonly #stall: StallTimer;
  readonly #left: (stream: PageStream) => void;
  /** Whether it has missed an update. */
  #isBehind = false;
  #isOver = false;

  /** @param left - called once, when the stream has ended. */
  constructor(deps: PageStreamsDeps, reply: HttpReply, left: (stream: PageStream) => void) {
    this.#deps = deps;
    this.#left = left;
    this.sink = reply.stream(eventStreamHeaders);
    this.#stall = new StallTimer(deps.clock, stallMs, () => this.end("destroy"));
    reply.onGone = this.#gone;
    this.sink.onDrain = this.#drained;
  }

  write(event: string): void {
    if (this.sink.isFull) this.#isBehind = true;
    else this.sink.write(event);
    this.#stall.update(this.sink.isFull);
  }

  /** Writes everything, as it is now. */
  writeSnapshot(): void {
    try {
      this.write(`event: snapshot\ndata: ${JSON.stringify(this.#deps.inspector.snapshot())}\n\n`);
    } catch (cause) {
      this.#deps.fail(cause);
      this.end("end");
    }
  }

  /** Callable twice. */
  end(how: "end" | "destroy"): void {
    this.sink[how]();
    this.#gone();
  }

  readonly #gone = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stall.close();
    this.#left(this);
  };

  readonly #drained = (): void => {
    this.#stall.update(false);
    if (!this.#isBehind || this.#isOver) return;
    this.#isBehind = false;
    this.writeSnapshot();
  };
}

/** The event streams of all open pages. Call {@link close} when done. */
export class PageStreams {
  readonly #deps: PageStreamsDeps;
  readonly #open = new Set<PageStream>();
  readonly #keepAlive: KeepAlive;
  #unsubscribe: (() => void) | undefined;

  constructor(deps: PageStreamsDeps) {
    this.#deps = deps;
    this.#keepAlive = new KeepAlive(deps.clock, keepAliveMs);
  }

  /** Answers with a stream, which begins with a snapshot. Returns `false` if too many are open. */
  open(reply: HttpReply): boolean {
    if (this.#open.size >= maxStreams) return false;
    this.#unsubscribe ??= this.#deps.inspector.subscribe(this.#update, () => this.close());
    const stream = new PageStream(this.#deps, reply, this.#left);
    this.#open.add(stream);
    this.#keepAlive.join(stream.sink);
    stream.writeSnapshot();
    return true;
  }

  /** Ends every stream. Callable twice. */
  close(): void {
    for (const stream of this.#open) stream.end("end");
  }

  readonly #update = (json: string): void => {
    const event = `event: update\ndata: ${json}\n\n`;
    for (const stream of this.#open) stream.write(event);
  };

  readonly #left = (stream: PageStream): void => {
    this.#open.delete(stream);
    this.#keepAlive.leave(stream.sink);
    if (this.#open.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  };
}
