import type { JsonObject } from "../schema/json.ts";

/** The view that a caller came by, and the program that they use. */
export interface CallerView {
  /** The view's name; never empty. */
  readonly surface: string;
  readonly project?: string;
  /** The `User-Agent` of the program. */
  readonly userAgent?: string;
  /** The name and version that the program sent in its handshake. Nothing proves them. */
  readonly client?: { readonly name: string; readonly version: string };
}

/** The view of a caller who names none. */
export const defaultView = "default";

/** The user or program that a call is made for. Never holds their access token, which ends where it is verified. */
export interface Caller {
  /**
   * The caller's name, the same on every request. Unique within `issuer`, `clientId` and the identity claims only: keep what
   * belongs to a caller under {@link callerKey}, not under `id`.
   */
  readonly id: string;
  /** The authority that names the caller, such as the `iss` of their token. */
  readonly issuer?: string;
  /** Whether the caller did not sign in: over standard input and output, and over HTTP without `auth`. */
  readonly isAnonymous: boolean;
  /**
   * Whether a tool calls for them, within its own authority: `scopes` are that authority. The default scopes of entries are then
   * required of an anonymous caller, too.
   */
  readonly isTool?: true;
  /** The scopes that the caller was granted. An anonymous caller has none, unless the server's options grant some. */
  readonly scopes: readonly string[];
  /** The program that acts for them, if their token names it. */
  readonly clientId?: string;
  /** Unix time (seconds) when the token expires. Streams and subscriptions opened with it are closed then. */
  readonly expiresAt?: number;
  /** The actions that the caller may do to things of the application, by `type:id`; `type:*` is every thing of a type. */
  readonly resources?: Readonly<Record<string, readonly string[]>>;
  /** The view that the caller came by. @default the view `default` */
  readonly view?: CallerView;
  /** Further facts that the verifier of the token passes to handlers. */
  readonly claims?: JsonObject;
}

/** The caller of a call without a signed-in user. Frozen. */
export const anonymous: Caller = Object.freeze({ id: "anonymous", isAnonymous: true, scopes: Object.freeze([]) });
