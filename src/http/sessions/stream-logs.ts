import type { ReplayBounds, ReplayEntry } from "../../cluster/cluster.ts";
import { createErrorResult } from "../../catalog/outcome.ts";
import { toReadError, toFailedAnswer } from "../../mcp/handlers.ts";
import type { RequestFrame } from "../../mcp/parse-frame.ts";
import type { RequestId, RpcAnswer } from "../../mcp/protocol.ts";
import type { Clock } from "../../spine/clock.ts";
import type { EventStream, StreamOrigin } from "./event-log.ts";
import type { SharedSession } from "./session-streams.ts";
import type { SessionPeers } from "./session-peers.ts";

/** The request that a stream answers, and the replica that runs it. Each entry of a log has it, because older entries are dropped. */
export interface StreamHead {
  readonly replica: string;
  readonly id: RequestId;
  readonly method: string;
}

/** An event in the log of a stream. */
export interface SharedEvent {
  /** 0: the request has started. */
  readonly seq: number;
  readonly head: StreamHead;
  /** Empty: no message, as in the first event and after a cancellation. */
  readonly json: string;
  readonly isLast: boolean;
}

/** An entry that is to be written, and the bounds of its log. */
interface LogEntry {
  readonly seq: number;
  readonly text: string;
  readonly bounds: ReplayBounds;
}

/** Milliseconds until the log of a finished stream is dropped if its client has read it. */
const readMs = 60_000;

const saved: Promise<boolean> = Promise.resolve(true);

const outcomeUnknown = createErrorResult(
  "OUTCOME_UNKNOWN",
  "the server process that ran this request has ended, and whether the request took effect is unknown: read the state before you try again",
);

/** Returns the answer to a request whose replica has ended. */
export function toLostAnswer({ method }: StreamHead): RpcAnswer {
  return method === "tools/call" ? toFailedAnswer(outcomeUnknown) : toReadError(outcomeUnknown);
}

/** Reads an entry; `undefined` for a text of another program. */
function readEvent({ number, text }: ReplayEntry): SharedEvent | undefined {
  const end = text.indexOf("\n");
  try {
    // Written by write().
    const head = JSON.parse(text.slice(1, end)) as StreamHead;
    return { seq: number - 1, head, json: text.slice(end + 1), isLast: text.startsWith("e") };
  } catch {
    return undefined;
  }
}

/**
 * Compares a log with the number of the last event that a client has. @param events - of that number or a higher one. Returns `none` if
 * the client has everything, and `gone` if all that it has not was dropped.
 */
export function restOf([first]: readonly SharedEvent[], seq: number): "none" | "some" | "gone" {
  if (first === undefined) return "gone";
  const missing = first.seq - seq;
  if (!first.isLast || (first.json !== "" && missing > 0)) return "some";
  // Of a log that was dropped, an end without a message is left.
  return missing > 1 ? "gone" : "none";
}

/** The logs of the streams of one session, by which any replica sends again what a client has missed. Holds nothing open. */
export class StreamLogs {
  readonly #peers: SessionPeers;
  readonly #clock: Clock;
  readonly #failed: (cause: unknown) => void;
  readonly #overruled: (stream: EventStream) => void;
  readonly #followed = new Set<string>();
  /** Resolves when the rights are saved that a reader of the next entries needs; with `false` if they could not be. */
  #rights = saved;

  /** @param overruled - called after another replica has ended the log of a stream in place of this one. */
  constructor({ peers, failed }: SharedSession, clock: Clock, overruled: (stream: EventStream) => void) {
    this.#peers = peers;
    this.#clock = clock;
    this.#failed = failed;
    this.#overruled = overruled;
  }

  /** Begins the log of a stream. */
  open(stream: EventStream, { id, method }: RequestFrame): void {
    const head: StreamHead = { replica: this.#peers.cluster.replica, id, method };
    stream.head = JSON.stringify(head);
    stream.lapses = this.#peers.cluster.lapses;
    this.append(stream, "");
  }

  /** Appends the last message of a stream to its log, if it has one. */
  append(stream: EventStream, json: string): void {
    const { head, isFinished, isRead, last, messages } = stream;
    if (head === undefined || this.#peers.isOver) return;
    const source = streamNameOf(stream.origin);
    const ttlMs = isFinished && isRead ? Math.min(readMs, this.#peers.ttlMs) : this.#peers.ttlMs;
    const seq = json === "" && isFinished ? last + 1 : last;
    if (isFinished) stream.keptUntil = this.#clock.now() + ttlMs;
    // As many as are kept here, and the first.
    const bounds = { maxEntries: messages.length + 1, ttlMs };
    const added = this.#add(source, { seq, text: `${isFinished ? "e" : "m"}${head}\n${json}`, bounds });
    const { lapses } = this.#peers.cluster;
    if (lapses === stream.lapses) return;
    stream.lapses = lapses;
    stream.isHeld = true;
    void added.then((isAppended) => {
      stream.isHeld = false;
      if (isAppended === false) this.#overruled(stream);
      else stream.flush();
    });
  }

  /** Called after a message of a stream was dropped here: drops a log of which nothing is left here, so that it needs no bound. */
  drop({ head, isFinished, keptUntil, last, messages, origin }: EventStream): void {
    if (head === undefined || !isFinished || messages.length > 0 || this.#clock.now() >= keptUntil) return;
    // A reader of the log finds that messages are missing before this end, which has none.
    const bounds = { maxEntries: 1, ttlMs: Math.min(readMs, this.#peers.ttlMs) };
    void this.#add(streamNameOf(origin), { seq: last + 2, text: `e${head}\n`, bounds });
  }

  /** Tells of each new event of a stream from now on. */
  follow(stream: EventStream): void {
    this.#followed.add(streamNameOf(stream.origin));
    const message = stream.isFinished ? stream.at(stream.last) : undefined;
    // The store may have been away when it was appended. A log takes no entry twice.
    if (message !== undefined) this.append(stream, message.json);
  }

  /** Resolves with events from a number on, oldest first. */
  async read(origin: StreamOrigin, from: number): Promise<readonly SharedEvent[]> {
    const entries = await this.#peers.cluster.log.read(this.#keyOf(streamNameOf(origin)), from);
    return entries.flatMap((entry) => readEvent(entry) ?? []);
  }

  /**
   * Appends the end of a stream whose replica has ended, unless another replica was faster. Resolves with `false` if the rights of its
   * readers cannot be saved.
   */
  async end(origin: StreamOrigin, { seq, head, json }: Omit<SharedEvent, "isLast">): Promise<boolean> {
    const text = `e${JSON.stringify(head)}\n${json}`;
    const bounds = { maxEntries: Number.MAX_SAFE_INTEGER, ttlMs: this.#peers.ttlMs };
    return (await this.#write(streamNameOf(origin), { seq, text, bounds })) !== undefined;
  }

  /** Does {@link #write}, and reports its error. */
  async #add(source: string, entry: LogEntry): Promise<boolean | undefined> {
    try {
      const isAppended = await this.#write(source, entry);
      if (this.#followed.has(source)) this.#peers.tell("grew", source);
      return isAppended;
    } catch (cause) {
      this.#failed(cause);
      return undefined;
    }
  }

  /** Resolves with `false` if another replica was faster; `undefined` if the rights of readers cannot be saved. */
  async #write(source: string, { seq, text, bounds }: LogEntry): Promise<boolean | undefined> {
    if (!(await this.#whenRightsAreSaved())) return undefined;
    return this.#peers.cluster.log.append(this.#keyOf(source), { number: seq + 1, text }, bounds);
  }

  #whenRightsAreSaved(): Promise<boolean> {
    if (!this.#peers.isUnsaved) return this.#rights;
    const rights = Promise.all([this.#rights, this.#peers.sync()]).then(
      () => true,
      () => false,
    );
    this.#rights = rights;
    // First of its callbacks: an entry that is written later goes after those that wait.
    void rights.then(() => this.#rights === rights && (this.#rights = saved));
    return rights;
  }

  #keyOf(source: string): string {
    return `log:${this.#peers.key}:${source}`;
  }
}

/** Names a stream among those of all copies. */
export function streamNameOf({ tag, stream }: StreamOrigin): string {
  return `${tag}.${stream}`;
}
