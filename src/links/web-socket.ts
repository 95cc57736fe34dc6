import { isRecord } from "../options/is-object.ts";
import { filledText, option, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { SurfaceError } from "../errors.ts";
import type { UseOptions } from "../surface/client.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import { heartbeat } from "./heartbeat-option.ts";
import type { Connection, Link } from "./link.ts";

/** What {@link webSocket} may be told. */
export interface WebSocketOptions {
  /** Sent with the opening request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as `Authorization: Bearer …`: what `listenWebSocket()` was given. */
  readonly token?: string;
  /** After how much silence the far side is asked for a sign of life, in milliseconds. Default 5,000. */
  readonly heartbeatMs?: number;
}

function assertUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && ["ws:", "wss:"].includes(parsed.protocol) && parsed.hash === "") return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Making a link to "${url}": it must be a "ws:" or "wss:" URL without a fragment`,
  );
}

const fields: OptionFields<WebSocketOptions> = {
  headers: option("an object", isRecord),
  token: filledText,
  heartbeatMs: heartbeat,
};

/**
 * A link to a live surface that is served with `listenWebSocket()`, on this machine or another.
 *
 * @throws SurfaceError `INVALID_OPTION` for another kind of URL; from `connect()`: `UNAVAILABLE` where nobody answers or
 * the opening is refused, `PROTOCOL_MISMATCH` where somebody else answers, `UNKNOWN_MEMBER` for a surface of another name,
 * `ABORTED` when its signal fires.
 * @example
 * ```ts
 * const app = mcp(counter).bridge(webSocket("ws://127.0.0.1:4000/", { token: "s3cret" }));
 * await app.serve();
 * ```
 */
export function webSocket(url: string, options: WebSocketOptions = {}): Link {
  assertUrl(url);
  const { token, heartbeatMs, headers: given } = readOptions(options, fields, "Making a link to a web socket");
  const headers = { ...given, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) };
  return Object.freeze({
    async connect<TAsked extends Spec>(surface: Surface<TAsked>, use: UseOptions = {}): Promise<Connection<TAsked>> {
      // Only who connects loads what it takes.
      const { openWebClient } = await import("./web/open-web-client.ts");
      return openWebClient(surface, { url, headers, heartbeatMs, signal: use.signal });
    },
  });
}
