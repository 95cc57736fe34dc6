import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Who may open a web socket. */
export interface UpgradeRules {
  readonly path: string;
  /** Names by which clients may call this machine, in lower case, without a port. */
  readonly hosts: ReadonlySet<string>;
  /** Web pages that may connect, by their origin. */
  readonly origins: ReadonlySet<string>;
  readonly token: string | undefined;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** The name in a `Host` header; the empty string where there is none. */
function nameOf(host: string | undefined): string {
  return /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::[0-9]+)?$/i.exec(host ?? "")?.[1]?.toLowerCase() ?? "";
}

function isAuthorised(header: string | undefined, token: string): boolean {
  // Digests have one length, whatever was sent: neither that nor where they differ shows in the time it takes.
  return timingSafeEqual(digest(header ?? ""), digest(`Bearer ${token}`));
}

/**
 * The HTTP status with which an opening request is refused; `undefined` where it is not. The host is checked, since a
 * web page can make its own name mean this machine; the origin, since browsers let every page connect everywhere.
 */
export function judgeUpgrade(request: IncomingMessage, rules: UpgradeRules): 401 | 403 | 404 | undefined {
  const { host, origin, authorization } = request.headers;
  if (!rules.hosts.has(nameOf(host))) return 403;
  if (origin !== undefined && !rules.origins.has(origin)) return 403;
  if (request.url?.split("?")[0] !== rules.path) return 404;
  if (rules.token !== undefined && !isAuthorised(authorization, rules.token)) return 401;
  return undefined;
}
