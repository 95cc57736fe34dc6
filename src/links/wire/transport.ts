import type { MessageReader, MessageWriter } from "vscode-jsonrpc/node";

/** A two-way pipe of whole JSON-RPC messages, and what flow control needs to know of it. Its maker has bounded the frames. */
export interface WireTransport {
  readonly reader: MessageReader;
  readonly writer: MessageWriter;
  /** Whether more was written than the far side has taken: what can wait, or be dropped, should. */
  readonly isFull: boolean;
  /** How many bytes have come so far, those of a message that is not whole yet too. */
  readonly received: number;
  /** How many bytes were written that the far side has not taken. */
  readonly backlog: number;
  /** Characters of the message that is being handed on. */
  readonly size: number;
  /** Calls `fn` each time that it is no longer full. */
  onDrain(fn: () => void): void;
  /** Stops reading, so that the far side feels it; callable twice. */
  pause(): void;
  /** Reads on; callable twice. */
  resume(): void;
  /** Sends what is written and ends it; destroys it where that takes long. Callable twice. */
  close(): void;
  /** Drops what carries it at once: what was written is lost. May be called more than once. */
  destroy(): void;
}
