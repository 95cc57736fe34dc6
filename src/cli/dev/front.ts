import type { Generation } from "./generation.ts";

/** The side of `dev` that clients connect to. It stays while generations come and go. */
export interface Front {
  /** The way by which clients reach it, for messages. */
  readonly served: string;
  /** Brings the sessions of clients to a generation, and sends all requests to it from then on. */
  swap(next: Generation): Promise<void>;
  /** Takes a message of a generation for its client. */
  frame(text: string): void;
  /** Takes note that the process of a generation has ended. */
  ended(generation: Generation): void;
  close(): Promise<void>;
}
