import type { Caller } from "../surface/caller.ts";
import type { SessionEnd, SessionStart, StreamStart, Transport } from "./observation.ts";
import { toOrigin } from "./observed-work.ts";
import type { Observers } from "./observers.ts";
import { toDefined } from "./to-defined.ts";

/** The way by which requests come, and the session that they come in. Costs nothing without observers. */
export class ObservedChannel {
  readonly transport: Transport;
  readonly #observers: Observers;
  #start: SessionStart | undefined;
  #startedAt = 0;
  #isOver = false;

  constructor(observers: Observers, transport: Transport) {
    this.#observers = observers;
    this.transport = transport;
  }

  /** The id of the session in records; `undefined` without a session that observers have seen start. */
  get session(): string | undefined {
    return this.#start?.id;
  }

  /** Records the start of a session, once. */
  start(caller: Caller, protocol: string | undefined): void {
    if (this.#observers.all === undefined || this.#start !== undefined || this.#isOver) return;
    const id = this.#observers.nextId();
    const origin = { transport: this.transport, protocol, session: id, ...toOrigin(caller) };
    this.#start = toDefined({ type: "session-start" as const, at: Date.now(), id, ...origin });
    this.#startedAt = performance.now();
    this.#observers.tell(this.#start);
  }

  /** Records the end of the session, once. */
  end(reason: SessionEnd["reason"]): void {
    if (this.#start === undefined || this.#isOver) return;
    this.#isOver = true;
    const ms = performance.now() - this.#startedAt;
    this.#observers.tell({ ...this.#start, type: "session-end", at: Date.now(), ms, reason });
  }
}

/** A permit of a stream. */
interface StreamPermit {
  release(): void;
}

/** A client that opens a stream. */
interface StreamClient {
  readonly caller: Caller;
  /** The session of the stream in records. @default none */
  readonly session?: string | undefined;
}

/** Records the start of a stream, and its end when the permit is released. */
export function observeStream(
  observers: Observers,
  { caller, session }: StreamClient,
  permit: StreamPermit,
): StreamPermit {
  if (observers.all === undefined) return permit;
  const origin = { transport: "http" as const, session, ...toOrigin(caller) };
  const id = observers.nextId();
  const start: StreamStart = toDefined({ type: "stream-start" as const, at: Date.now(), id, ...origin });
  const startedAt = performance.now();
  observers.tell(start);
  let isOver = false;
  return {
    release() {
      permit.release();
      if (isOver) return;
      isOver = true;
      observers.tell({ ...start, type: "stream-end", at: Date.now(), ms: performance.now() - startedAt });
    },
  };
}
