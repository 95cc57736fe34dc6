import type { JsonObject } from "../schema/json.ts";

/** Through which view somebody asks, and with which program. */
export interface CallerView {
  /** The view's name; never empty. */
  readonly surface: string;
  readonly project?: string;
  /** What their program calls itself towards the transport. */
  readonly userAgent?: string;
  /** What their program calls itself towards the server. Its own words: nothing is proven by them. */
  readonly client?: { readonly name: string; readonly version: string };
}

/** The view of whoever does not say which. */
export const defaultView = "default";

/** Who is asking. Never holds what they proved it with: a token ends where it is verified. */
export interface Caller {
  /**
   * The caller's name, the same on every request. Unique within `issuer`, `clientId` and the identity claims only: keep what
   * belongs to a caller under {@link callerKey}, not under `id`.
   */
  readonly id: string;
  /** The authority that names the caller, such as the `iss` of their token. */
  readonly issuer?: string;
  /** Whether nobody said who they are: over standard input and output, and over HTTP without `auth`. */
  readonly isAnonymous: boolean;
  /**
   * Whether it is a tool that asks for them, within its own authority: `scopes` are that. What entries take by default is then
   * asked also of who is anonymous.
   */
  readonly isTool?: true;
  /** What they were granted. Who is anonymous has nothing, unless whoever serves them says otherwise. */
  readonly scopes: readonly string[];
  /** The program that acts for them, where their token names it. */
  readonly clientId?: string;
  /** Seconds since 1970 from which on they are nobody any more: what they listen to ends then. */
  readonly expiresAt?: number;
  /** What they may do to things of the application's own: actions by `type:id`, where `type:*` is all of a type. */
  readonly resources?: Readonly<Record<string, readonly string[]>>;
  /** Through which view they ask. Left out: the default one. */
  readonly view?: CallerView;
  /** What else the verifier of their token wants handlers to know. */
  readonly claims?: JsonObject;
}

/** Somebody of whom nothing is known. */
export const anonymous: Caller = Object.freeze({ id: "anonymous", isAnonymous: true, scopes: Object.freeze([]) });
