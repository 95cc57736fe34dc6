import { refuseHeader, refuseRequest, type HttpRefusal } from "./respond.ts";
import type { HttpRequest, HttpAnswer } from "./message.ts";
import { clipText } from "../schema/visible-text.ts";

/** A name or address and maybe a port: no user, no path, nothing else that two readers could read differently. */
const hostForm = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?$/;

/** The values of `Host` that are served. Without this list any web page could reach a server on the machine of its reader. */
export class HostList {
  readonly #hosts: ReadonlySet<string>;
  /** The last value that was in the list: clients of one server send the same. */
  #last: string | undefined;

  /** @param hosts - a name with any port, or with the one that it names. */
  constructor(hosts: readonly string[]) {
    this.#hosts = new Set(hosts.map((host) => host.toLowerCase()));
  }

  /** Returns whether a value is in the list, in any case. */
  has(value: string): boolean {
    if (value === this.#last) return true;
    const host = value.toLowerCase();
    const name = hostForm.exec(host)?.[1];
    const isServed = name !== undefined && (this.#hosts.has(host) || this.#hosts.has(name));
    if (isServed) this.#last = value;
    return isServed;
  }
}

/** The origins whose pages may send requests: a list, or all of this machine. */
export type AllowedOrigins = readonly string[] | "loopback";

const loopbackOrigin = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/;

/** The values of `Origin` that are served. */
export class OriginList {
  readonly #origins: ReadonlySet<string> | "loopback";

  constructor(origins: AllowedOrigins) {
    this.#origins = origins === "loopback" ? origins : new Set(origins.map((origin) => origin.toLowerCase()));
  }

  /** Returns whether a value is allowed. Refuses `null`, which every sandboxed page and every file sends. */
  has(value: string): boolean {
    const origin = value.toLowerCase();
    if (this.#origins === "loopback") return loopbackOrigin.test(origin);
    return origin !== "null" && this.#origins.has(origin);
  }
}

const remoteClient = refuseRequest(403, "without authentication only clients on this machine are served");

const hint = 'pass "auth", or { allowAnonymous: true } if everyone may use what is exposed';

function warn(text: string): void {
  // oxlint-disable-next-line no-console -- the author's terminal is where a warning belongs
  console.error(`[surface-mcp] warning: ${text}; ${hint}`);
}

/**
 * Guards a server without `auth` against other machines. The list of hosts does not: a program writes any `Host`. Warns once,
 * because nothing else tells an author who forgot `auth`. Does not warn of a client that is gone.
 */
export class LocalClients {
  #hasWarned = false;

  /** Returns a refusal if the connection does not come from this machine. A web `Request` names no address and passes. */
  check({ isRemote, isReset, address }: HttpRequest): HttpRefusal | undefined {
    if (isRemote === false) return undefined;
    if (!this.#hasWarned && isReset !== true) {
      this.#hasWarned = true;
      if (isRemote === undefined) warn('Serving web requests, which name no address, without "auth"');
      else warn(`Cannot serve a client at ${address ?? "an unknown address"} without "auth"`);
    }
    return isRemote === undefined ? undefined : remoteClient;
  }
}

/** Rules for the head of a request. */
export interface HeadRules {
  readonly hosts: HostList;
  readonly origins: OriginList;
  /** The maximum `Content-Length`, in bytes. */
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

/** Headers that proxies and this server must read alike: of two values each could take another one. */
const mirrors = ["mcp-protocol-version", "mcp-method", "mcp-name"];
const single = [...mirrors, "mcp-session-id", "last-event-id", "authorization"];
const repeated: readonly (readonly [string, HttpRefusal])[] = single.map((name) => {
  const what = `"${name}" must not be repeated`;
  return [name, mirrors.includes(name) ? refuseHeader(what) : refuseRequest(400, what)];
});
const garbled = refuseHeader('"mcp-name" must be visible ASCII, or Base64 of UTF-8 between "=?base64?" and "?="');

/** Checks `Host`, target and `Origin` of every request. Returns the refusal, or `undefined`. */
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

/** Checks the headers of a POST about its body, before the body is read. */
export function checkBodyHead(request: HttpRequest, { maxBytes }: HeadRules): HttpRefusal | undefined {
  if (!hasKnownCoding(request)) return unknownCoding;
  if (request.count("content-type") > 1 || !isJsonType(request.header("content-type"))) return badType;
  if (request.header("content-encoding") !== undefined) return badType;
  if (!acceptsType(request.header("accept"), "application/json")) return notAcceptable;
  if (Number(request.header("content-length") ?? 0) > maxBytes) return tooLarge;
  const name = request.header("mcp-name");
  return name === undefined || decodeHeaderValue(name) !== undefined ? undefined : garbled;
}

const sentinelStart = "=?base64?";
const sentinelEnd = "?=";
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Visible ASCII and spaces. */
const plain = /^[\t\x20-\x7e]*$/;

function decodeBase64(text: string): string | undefined {
  if (!base64.test(text)) return undefined;
  try {
    // Every character of what atob() returns stands for one byte.
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Decodes a header that repeats a value of the body: the value itself or, between `=?base64?` and `?=`, its UTF-8 bytes in Base64.
 * Returns `undefined` for other text.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!plain.test(value)) return undefined;
  const text = value.trim();
  if (!text.startsWith(sentinelStart) || !text.endsWith(sentinelEnd)) return text;
  return decodeBase64(text.slice(sentinelStart.length, -sentinelEnd.length));
}

/** The headers as the protocol wants them, and as most clients send them. */
const usualType = "application/json";
const usualAccept = "application/json, text/event-stream";
const usualTypes = usualAccept.split(", ");

const utf8 = /^"?utf-?8"?$/;

/**
 * Returns whether a body is announced as JSON in UTF-8. Anything else is refused unread: a browser lets every page send forms
 * and plain text to any server, but not JSON (CVE-2026-33252).
 */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === usualType) return true;
  const [type, ...params] = (contentType ?? "").toLowerCase().split(";");
  if (type?.trim() !== usualType) return false;
  return params.every((param) => {
    const [name, ...value] = param.split("=");
    return name?.trim() !== "charset" || utf8.test(value.join("=").trim());
  });
}

function isRefused(param: string): boolean {
  return /^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(param);
}

/** Returns whether a client takes answers of a media type. Without the header it takes every type. */
export function acceptsType(accept: string | undefined, type: string): boolean {
  if (accept === undefined || (accept === usualAccept && usualTypes.includes(type))) return true;
  const family = `${type.slice(0, type.indexOf("/"))}/*`;
  return accept
    .toLowerCase()
    .split(",")
    .some((range) => {
      const [name = "", ...params] = range.split(";");
      return [type, family, "*/*"].includes(name.trim()) && !params.some((param) => isRefused(param));
    });
}

const maxShownBytes = 256;

/** The path that messages are served at, with or without a slash at its end. */
export class ServedPath {
  readonly #path: string;
  readonly #slashed: string;
  #isSettled = false;

  constructor(path: string) {
    this.#path = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    this.#slashed = path === "/" ? path : `${this.#path}/`;
  }

  /** Returns whether a request's path is the one that is served. */
  has(path: string): boolean {
    const isServed = path === this.#path || path === this.#slashed;
    if (isServed) this.#isSettled = true;
    return isServed;
  }

  /**
   * Warns once of a message to another path, if none has come to this one: a framework hands on requests of the path that
   * the handler is mounted at, and nothing else tells its author why they are answered with 404.
   */
  missed({ method }: HttpRequest, path: string): void {
    if (this.#isSettled || method !== "POST") return;
    this.#isSettled = true;
    const asked = JSON.stringify(clipText(path, maxShownBytes));
    const what = `Cannot serve ${asked}: the app is served at "${this.#path}"`;
    // oxlint-disable-next-line no-console -- the author's terminal is where a warning belongs
    console.error(`[surface-mcp] warning: ${what}; pass { path: ${asked} } if it is mounted there`);
  }
}

/** Headers that pages may send, in addition to those that begin with `mcp-`. */
const allowedHeaders = ["accept", "authorization", "content-type", "last-event-id"];
const mcpHeaders = ["mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"];
const exposedHeaders = "mcp-session-id, www-authenticate, retry-after";
const preflightSeconds = "600";
const paramHeader = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;
const maxParamHeaders = 64;

/** The headers of tool parameters that a page asks for: their names are the tools' own. */
function askedParams(request: HttpRequest): readonly string[] {
  const asked = (request.header("access-control-request-headers") ?? "").toLowerCase().split(",");
  return asked
    .map((name) => name.trim())
    .filter((name) => paramHeader.test(name))
    .slice(0, maxParamHeaders);
}

/** Answers the preflight request of a page of an allowed origin. */
export function toPreflight(request: HttpRequest, methods: string): HttpAnswer {
  const headers = [...allowedHeaders, ...mcpHeaders, ...askedParams(request)];
  return {
    status: 204,
    headers: {
      "access-control-allow-methods": methods,
      "access-control-allow-headers": headers.join(", "),
      "access-control-max-age": preflightSeconds,
    },
  };
}

/** Returns the headers of a response that a page of an allowed origin may read. */
export function toCorsHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": exposedHeaders,
    vary: "origin",
  };
}
