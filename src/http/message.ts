import type { Caller } from "../surface/caller.ts";
import type { HeldBytes } from "./body.ts";

/**
 * Ports of HTTP: `node:http` and web requests both implement them. Neither is made of the other, because wrapping the objects of
 * Node into web objects takes a quarter of the time of a small call.
 */

/** The outcome of reading a body. Keep text that is made of the bytes, not the bytes: they may be a view of a larger store. */
export type BodyRead = Uint8Array | "too-large" | "gone" | "refused";

/** A request, before its body is read. */
export interface HttpRequest {
  readonly method: string;
  /**
   * The path and query, as they were sent. An absolute-form target that names the `Host` is given without its scheme and
   * authority; any other target that does not start with "/" is given as it is.
   */
  readonly target: string;
  /** Whether the runtime may have left out headers, because there were too many. @default false */
  readonly isHeadCut?: boolean;
  /** Address of the client, or of the proxy in front of the server; `undefined` if the runtime has none. */
  readonly address?: string | undefined;
  /** Whether the connection may come from another machine; `undefined` if the runtime has no address. */
  readonly isRemote?: boolean | undefined;
  /** Whether the client has reset its connection. @default false */
  readonly isReset?: boolean;
  /** Returns the value of a header, by its name in lower case. Values of a repeated header are joined. */
  header(name: string): string | undefined;
  /** Returns the number of headers of this name. */
  count(name: string): number;
  /**
   * Reads the body, once, and calls `done` with it. `bytes` counts it while it arrives; bytes beyond `maxBytes` are not kept.
   * `gone`: the client left, or was too slow. `refused`: `bytes` had no room. `done` must not throw.
   */
  body(maxBytes: number, done: (body: BodyRead) => void, bytes?: HeldBytes): void;
}

/** An answer in one piece. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent in UTF-8. @default none */
  readonly body?: string;
}

/** The reply to one request: one piece or a stream of events, once. */
export interface HttpReply {
  /** Whether the request was answered, or its client is gone. */
  readonly isOver: boolean;
  /** Bytes of the answer that this process holds until the system takes them; `undefined` if the runtime does not count them. */
  readonly heldBytes?: number;
  /** Key under which the unread bytes of the answer are counted. @default they count in total only */
  owner?: string | undefined;
  /** Headers of every response, set before it. They replace those of {@link answer} and {@link stream}. @default none */
  extraHeaders?: Readonly<Record<string, string>> | undefined;
  /** Answers. Does nothing when it is over. */
  answer(answer: HttpAnswer): void;
  /** Answers with a stream of events, which stays open until it is ended. */
  stream(headers: Readonly<Record<string, string>>): EventSink;
  /** Called once, when the client leaves before the answer is complete. Holds one function at a time. */
  onGone: (() => void) | undefined;
}

/** An open stream of events. Writing to one that has ended does nothing. */
export interface EventSink {
  /** Writes text as it is: whole events, or comments. */
  write(text: string): void;
  /** Whether unread text piles up. */
  readonly isFull: boolean;
  /** Called when the stream is no longer full. */
  onDrain: (() => void) | undefined;
  /** Completes the answer. Callable twice. */
  end(): void;
  /** Drops the connection and all unread events. */
  destroy(): void;
}

/** Answers one HTTP request. Never throws, never rejects. */
export type HttpServe = (request: HttpRequest, reply: HttpReply) => void;

/** A request whose caller is known. One object for each request. */
export interface HttpExchange {
  readonly request: HttpRequest;
  readonly reply: HttpReply;
  readonly caller: Caller;
  /** Bytes of the body, which the request holds while it waits or runs. @default nothing counts them */
  bytes?: HeldBytes | undefined;
}
