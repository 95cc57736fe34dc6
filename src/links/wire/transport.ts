import type { JsonObject } from "../../schema/json.ts";

/** Receives what comes over a {@link WireTransport}. None of these may throw. */
export interface TransportListener {
  /** A whole message, as it was parsed. */
  message(message: JsonObject): void;
  /** The transport is no longer full. */
  drained(): void;
  /** Nothing follows: told once, after every message. Without a cause it is an orderly end. */
  ended(cause: Error | undefined): void;
}

/** A two-way pipe of whole JSON-RPC messages, and what flow control needs to know of it. Its maker has bounded the frames. */
export interface WireTransport {
  /** Whether more was written than the far side has taken: what can wait, or be dropped, should. */
  readonly isFull: boolean;
  /** Bytes that have come so far, also of an unfinished message. */
  readonly received: number;
  /** Bytes that were written and that the far side has not taken. */
  readonly backlog: number;
  /** Characters of the message that is being handed on. */
  readonly size: number;
  /** Hands on messages from the next turn on; those that came before were kept, and so was the end. Called once. */
  listen(listener: TransportListener): void;
  /**
   * Writes a message.
   *
   * @throws SurfaceError `FRAME_TOO_LARGE`, or `UNAVAILABLE` after the end: nothing of the message was sent then.
   */
  write(message: object): void;
  /** Reads large messages too from now on: a server does so when its peer has said who it is. */
  trust(): void;
  /** Stops reading, so that the far side feels it; callable twice. */
  pause(): void;
  /** Reads on; callable twice. */
  resume(): void;
  /** Sends what is written and ends it; destroys it where that takes long. Callable twice. */
  close(): void;
  /** Drops what carries it at once: what was written is lost. May be called more than once. */
  destroy(): void;
}
