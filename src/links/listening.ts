import type { LinkUse } from "./link-limits.ts";

/** A live surface that others can connect to. Whoever started it closes it. */
export interface Listening {
  /** Resolves once nobody can connect any more and everybody who was connected is gone; never rejects. */
  readonly closed: Promise<void>;
  /**
   * Takes no new connections, says goodbye to those there are, lets what they asked for be answered for a moment, and
   * ends. The live surface lives on. Callable twice.
   */
  close(): Promise<void>;
}

/** Statistics of a listener. */
export interface ListenerStats {
  /** Everything that peers can make the listener hold: how much of it there is, and what was refused or cut off. */
  readonly limits: LinkUse;
}

/** A live surface that others can connect to over a Unix domain socket. */
export interface SocketListening extends Listening {
  stats(this: void): ListenerStats;
  /** Where the socket is, in full. */
  readonly path: string;
}

/** A live surface that others can connect to over web sockets. */
export interface WebListening extends Listening {
  stats(this: void): ListenerStats;
  /** What a client on this machine connects to. */
  readonly url: string;
  readonly port: number;
}
