import { refuseHeader, refuseRequest, type HttpRefusal } from "../http-refusal.ts";
import type { HttpRequest } from "../message.ts";
import type { HostList } from "./host-list.ts";
import { decodeHeaderValue } from "./header-value.ts";
import { acceptsType, isJsonType } from "./media-type.ts";
import type { OriginList } from "./origin-list.ts";

/** What requests are served, as far as their heads say. */
export interface HeadRules {
  readonly hosts: HostList;
  readonly origins: OriginList;
  /** The most bytes that a body may be announced to have. */
  readonly maxBytes: number;
}

const noHost = refuseRequest(400, "exactly one Host header is required");
const foreignHost = refuseRequest(403, "this Host is not served here");
const foreignOrigin = refuseRequest(403, "pages of this Origin may not ask");
const badTarget = refuseRequest(400, "the target must be a path, or an absolute URL that names the Host");
const tooManyHeaders = refuseRequest(431, "it has more headers than this server reads");
const unknownCoding = refuseRequest(501, "the only Transfer-Encoding served here is chunked");
const badType = refuseRequest(415, "the body must be application/json in UTF-8, without a Content-Encoding");
const notAcceptable = refuseRequest(406, "the client must accept application/json");
const tooLarge = refuseRequest(413, "the body is larger than this server accepts");

/** What intermediaries and this server must read alike: in two values each could find its own. */
const mirrors = ["mcp-protocol-version", "mcp-method", "mcp-name"];
const single = [...mirrors, "mcp-session-id", "last-event-id", "authorization"];
const repeated: readonly (readonly [string, HttpRefusal])[] = single.map((name) => {
  const what = `"${name}" must not be repeated`;
  return [name, mirrors.includes(name) ? refuseHeader(what) : refuseRequest(400, what)];
});
const garbled = refuseHeader('"mcp-name" must be visible ASCII, or Base64 of UTF-8 between "=?base64?" and "?="');

/** Whether it came from where requests may come from: checked of every one, whatever it asks for. */
export function checkOrigin(request: HttpRequest, { hosts, origins }: HeadRules): HttpRefusal | undefined {
  if (request.isHeadCut === true) return tooManyHeaders;
  const host = request.header("host");
  if (request.count("host") !== 1 || host === undefined) return noHost;
  if (!hosts.has(host)) return foreignHost;
  if (!request.target.startsWith("/") && request.target !== "*") return badTarget;
  const origin = request.header("origin");
  if (origin === undefined) return undefined;
  return request.count("origin") === 1 && origins.has(origin) ? undefined : foreignOrigin;
}

/** Refuses a request that repeats a header which may come once. */
export function checkRepeated(request: HttpRequest): HttpRefusal | undefined {
  for (const [name, refusal] of repeated) if (request.count(name) > 1) return refusal;
  return undefined;
}

function hasKnownCoding(request: HttpRequest): boolean {
  return (request.header("transfer-encoding") ?? "chunked").trim().toLowerCase() === "chunked";
}

/** What the head of a POST says about its body. Nothing of that is read yet, and nothing is if this refuses. */
export function checkBodyHead(request: HttpRequest, { maxBytes }: HeadRules): HttpRefusal | undefined {
  if (!hasKnownCoding(request)) return unknownCoding;
  if (request.count("content-type") > 1 || !isJsonType(request.header("content-type"))) return badType;
  if (request.header("content-encoding") !== undefined) return badType;
  if (!acceptsType(request.header("accept"), "application/json")) return notAcceptable;
  if (Number(request.header("content-length") ?? 0) > maxBytes) return tooLarge;
  const name = request.header("mcp-name");
  return name === undefined || decodeHeaderValue(name) !== undefined ? undefined : garbled;
}
