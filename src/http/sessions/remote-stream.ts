import type { SessionStreams } from "./session-streams.ts";
import type { EventStream, StreamOrigin } from "./event-log.ts";
import type { SessionPeers } from "./session-peers.ts";
import { streamNameOf, toLostAnswer, type SharedEvent, type StreamHead, type StreamLogs } from "./stream-logs.ts";

/** Milliseconds between looks into a log: a message that says that it grew may be lost. */
const lookMs = 1000;

/** Dependencies of a {@link RemoteStream}. */
export interface RemoteStreamDeps {
  readonly streams: Pick<SessionStreams, "http" | "log" | "append" | "finish">;
  readonly peers: SessionPeers;
  readonly logs: StreamLogs;
  readonly origin: StreamOrigin;
  /** The stream on this replica that the client reads. */
  readonly stream: EventStream;
  readonly failed: (cause: unknown) => void;
}

/**
 * A stream of another replica, which a client reads here: first what the client has missed, then each new event. If that replica has
 * ended without an answer, answers that the outcome is unknown. Call {@link close} when done.
 */
export class RemoteStream {
  readonly #deps: RemoteStreamDeps;
  #head: StreamHead | undefined;
  #stopTimer: (() => void) | undefined;
  #isLooking = false;
  #hasGrown = false;
  #isClosed = false;

  constructor(deps: RemoteStreamDeps) {
    this.#deps = deps;
  }

  /** Sends the first events, and follows the log. */
  start(events: readonly SharedEvent[]): void {
    for (const event of events) this.#take(event);
    void this.#look();
  }

  /** Looks into the log now. */
  grew(source: unknown): void {
    if (source === streamNameOf(this.#deps.origin)) this.#lookNow();
  }

  /** Reads on for a client that has read what it was sent. */
  drained(): void {
    // Before the first events there is nothing to read on from.
    if (this.#head !== undefined) this.#lookNow();
  }

  /** Ends the reading. The client may resume. Callable twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTimer?.();
    const { stream, streams } = this.#deps;
    stream.close();
    streams.log.remove(stream);
  }

  #lookNow(): void {
    this.#hasGrown = true;
    void this.#look();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#stopTimer?.();
    try {
      do this.#hasGrown = false;
      while ((await this.#readOn()) || this.#hasGrown);
    } catch (cause) {
      this.#deps.failed(cause);
      this.close();
    }
    this.#isLooking = false;
    if (this.#isClosed) return;
    this.#stopTimer = this.#deps.streams.http.clock.after(lookMs, () => void this.#look());
  }

  /** Sends new events. Returns whether there may be more. */
  async #readOn(): Promise<boolean> {
    const { logs, origin, peers, stream } = this.#deps;
    // A slow client gets what it can read first.
    if (this.#isClosed || stream.isFinished || stream.unsent > 0) return false;
    const events = await logs.read(origin, stream.last + 1);
    for (const event of events) this.#take(event);
    if (events.length > 0 || this.#isClosed) return !this.#isClosed;
    peers.tell("follow", streamNameOf(origin));
    const head = this.#head;
    if (head === undefined || (await this.#isRunning(head)) || this.#isClosed) return false;
    const json = this.#deps.streams.http.responder.render(head.id, toLostAnswer(head), "legacy");
    return logs.end(origin, { seq: stream.last + 1, head, json });
  }

  /** Resolves with `false` if the replica of the request has ended, or is this one, which has no such stream any more. */
  async #isRunning({ replica }: StreamHead): Promise<boolean> {
    const { cluster } = this.#deps.peers;
    return replica !== cluster.replica && cluster.isAlive(replica);
  }

  #take({ seq, head, json, isLast }: SharedEvent): void {
    const { stream, streams } = this.#deps;
    if (this.#isClosed || stream.isFinished) return;
    this.#head = head;
    // Events between them were dropped.
    if (seq > stream.last + 1) streams.log.skip(stream, seq);
    if (isLast) streams.finish(stream, json === "" ? undefined : json);
    else if (seq > stream.last) streams.append(stream, { json });
  }
}
