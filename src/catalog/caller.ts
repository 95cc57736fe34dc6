import type { JsonObject } from "../schema/json.ts";

/** Who is asking. Never holds what they proved it with: a token ends where it is verified. */
export interface Caller {
  /** Names them, the same on every request; two callers never share one. Keys what is theirs: sessions, places, limits. */
  readonly id: string;
  /** Whether nobody said who they are: over standard input and output, and over HTTP without `auth`. */
  readonly isAnonymous: boolean;
  /** What they were granted. Of no meaning for who is anonymous: nothing is asked of them. */
  readonly scopes: readonly string[];
  /** The program that acts for them, where their token names it. */
  readonly clientId?: string;
  /** Seconds since 1970 from which on they are nobody any more: what they listen to ends then. */
  readonly expiresAt?: number;
  /** What else the verifier of their token wants handlers to know. */
  readonly claims?: JsonObject;
}

/** Somebody of whom nothing is known. */
export const anonymous: Caller = Object.freeze({ id: "anonymous", isAnonymous: true, scopes: Object.freeze([]) });
