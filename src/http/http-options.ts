import type { RateLimiter } from "../call/limit-call.ts";
import type { HttpAuth } from "./auth/http-auth.ts";
import type { HttpLimits } from "./budgets.ts";
import type { AddressedRequest } from "./addresses.ts";

/** How often one caller may call tools, all tools together. */
export interface RateLimits {
  /** Calls per minute, of which a quarter may change something. Default 120: 120 calls, 30 changes. */
  readonly perMinute?: number;
  /** Calls in a row, of either kind, before they are spread over the minute. Default 20. */
  readonly burst?: number;
}

/** What {@link httpHandler} may be told. All sizes and times are upper bounds. */
export interface HttpHandlerOptions {
  /** Authentication: `bearer()` or `oauthResource()`. Default: clients on this machine are served, anonymously. */
  readonly auth?: HttpAuth;
  /**
   * The values of `Host` that are answered, exactly: `"ci.example"` with any port, `"ci.example:8443"` with that one.
   * Default: `localhost`, `127.0.0.1` and `[::1]`. Any other than these needs `auth`, or `allowAnonymous`.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Serves clients on other machines without `auth`: everyone who can reach the server may use all that is exposed, also tools
   * that change something. A container whose port is published needs it, because its clients come from the bridge. Not together
   * with `auth`.
   *
   * @default false
   */
  readonly allowAnonymous?: boolean;
  /**
   * The origins whose pages may ask, exactly: `"https://app.example"`. Default: `http://` and `https://` of the three
   * loopback names, any port, where only those hosts are answered; else none.
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * The path that messages are served at, also with a slash at its end. Under a framework: the path that the handler is mounted
   * at, whole.
   *
   * @default "/mcp"
   */
  readonly path?: string;
  /** Whether clients up to 2025-11-25 are served, with sessions. Default `true`. */
  readonly sessions?: boolean;
  /**
   * How many sessions there are at most. Over it the one that has been idle the longest ends, if that is at least 10 s, or its
   * client has closed its stream.
   *
   * @default 1024
   */
  readonly maxSessions?: number;
  /**
   * How many sessions one caller has at most; anonymous ones count only among all. Over it the caller's own session that has
   * been idle the longest ends.
   *
   * @default a sixteenth of `maxSessions`, at least 1
   */
  readonly maxSessionsPerPrincipal?: number;
  /** How long a session may do nothing, in milliseconds. Default 300,000; 0: for ever. */
  readonly sessionIdleMs?: number;
  /** How many messages are kept for a session: those not read yet, and those to send again. Default 1,024, at least 1. */
  readonly maxQueued?: number;
  /**
   * How many requests of one caller run at once; 256 more wait. Default 64. Anonymous: of one session. One whose client has
   * left or was answered runs until its handler has ended.
   */
  readonly maxInFlight?: number;
  /**
   * How many subscriptions, and streams that were asked for by GET, one caller has open. Default 16; anonymous ones count only
   * among all. The stream that a request is answered with is not one more: `maxInFlight` bounds it.
   */
  readonly maxStreamsPerPrincipal?: number;
  /** How many there are at most. Default 1,024. */
  readonly maxStreams?: number;
  /**
   * Limits the calls of each caller, and more widely its requests that run nothing; with `auth` only. `false`: no limit.
   * @default the limits of {@link RateLimits}
   */
  readonly rateLimit?: false | RateLimits | RateLimiter;
  /**
   * Reads the address of a client, for example from a header that your proxy sets. Unknown tokens and anonymous callers are counted
   * by it. Read only a header that clients cannot set past the proxy.
   *
   * @default the address of the connection; none for `httpHandler().fetch`
   */
  readonly clientAddress?: (request: AddressedRequest) => string | undefined;
  /** Bounds of what callers can make the server hold. Defaults: see the guide on limits. */
  readonly limits?: HttpLimits;
  /** After how long a quiet stream is written a comment, in milliseconds. Default 15,000; 0: never. */
  readonly keepAliveMs?: number;
  /**
   * How long a client may leave a stream unread, or an answer to `http()` or `.node`, until its connection is dropped, in
   * milliseconds. Default 30,000.
   */
  readonly stallMs?: number;
  /** How long running requests, and answers under way, may take when it closes, in milliseconds. Default 10,000. */
  readonly drainMs?: number;
}

/** What {@link http} may be told. */
export interface HttpOptions extends HttpHandlerOptions {
  /** Default 0: any that is free. */
  readonly port?: number;
  /** Default `127.0.0.1`. Any other than loopback needs `auth` and `allowedHosts`. */
  readonly host?: string;
  /** How long the head of a request may take, in milliseconds. Default 10,000. */
  readonly headersTimeoutMs?: number;
  /** How long a whole request may take to come in, in milliseconds. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** Whether SIGTERM and SIGINT end the process, with code 0, once all is closed. Default `true`. */
  readonly exit?: boolean;
}
