import { clipText } from "../schema/visible-text.ts";
import { isJsonType } from "./body.ts";
import type { HttpRequest, HttpAnswer } from "./message.ts";
import { refuseHeader, refuseRequest, type HttpRefusal } from "./respond.ts";

/** A name or address, with or without a port: no user, no path, and nothing else that two programs could read differently. */
const hostForm = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?$/;

/** The accepted values of `Host`. Without this list any web page could reach a server on the machine of its reader. */
export class HostList {
  readonly #hosts: ReadonlySet<string>;
  /** The last accepted value: clients of one server send the same. */
  #last: string | undefined;

  /** @param hosts - a name without a port is accepted with any port. */
  constructor(hosts: readonly string[]) {
    this.#hosts = new Set(hosts.map((host) => host.toLowerCase()));
  }

  /** Returns whether a value is in the list, in any case. */
  has(value: string): boolean {
    if (value === this.#last) return true;
    const host = value.toLowerCase();
    const name = hostForm.exec(host)?.[1];
    const isAccepted = name !== undefined && (this.#hosts.has(host) || this.#hosts.has(name));
    if (isAccepted) this.#last = value;
    return isAccepted;
  }
}

/** Origins whose pages may send requests. */
export type AllowedOrigins = readonly string[] | "loopback";

const loopbackOrigin = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/;

/** The accepted values of `Origin`. */
export class OriginList {
  readonly #origins: ReadonlySet<string> | "loopback";

  constructor(origins: AllowedOrigins) {
    this.#origins = origins === "loopback" ? origins : new Set(origins.map((origin) => origin.toLowerCase()));
  }

  /** Returns whether a value is accepted. Refuses `null`, which every sandboxed page and every file sends. */
  has(value: string): boolean {
    const origin = value.toLowerCase();
    if (this.#origins === "loopback") return loopbackOrigin.test(origin);
    return origin !== "null" && this.#origins.has(origin);
  }
}

const remoteClient = refuseRequest(403, "without authentication this server accepts only clients on its own machine");

function warn(text: string): void {
  // oxlint-disable-next-line no-console -- the author's terminal is where a warning belongs
  console.error(`[surface-mcp] warning: ${text}`);
}

const authHint = 'pass "auth", or { allowAnonymous: true } if everyone may use the exposed tools';

/**
 * Guards a server without `auth` against other machines. The list of hosts cannot, because a program writes any `Host`. Warns once,
 * since the author may have forgotten `auth`. Does not warn of a client that is gone.
 */
export class LocalClients {
  #hasWarned = false;

  /** Returns a refusal if the connection does not come from this machine. A web `Request` names no address and passes. */
  check({ isRemote, isReset, address }: HttpRequest): HttpRefusal | undefined {
    if (isRemote === false) return undefined;
    if (!this.#hasWarned && isReset !== true) {
      this.#hasWarned = true;
      if (isRemote === undefined) warn(`Serving web requests, whose address is unknown, without "auth"; ${authHint}`);
      else warn(`Cannot serve a client at ${address ?? "an unknown address"} without "auth"; ${authHint}`);
    }
    return isRemote === undefined ? undefined : remoteClient;
  }
}

const noHost = refuseRequest(400, "exactly one Host header is required");
const foreignHost = refuseRequest(403, 'the "allowedHosts" of this server do not include this Host');
const foreignOrigin = refuseRequest(403, 'the "allowedOrigins" of this server do not include this Origin');
const badTarget = refuseRequest(400, "the target must be a path, or an absolute URL with the same host as Host");
const tooManyHeaders = refuseRequest(431, "it has too many headers");
const unknownCoding = refuseRequest(501, "Transfer-Encoding must be chunked");
const badType = refuseRequest(415, "Content-Type must be application/json in UTF-8, without a Content-Encoding");
const notAcceptable = refuseRequest(406, "Accept must allow application/json");
const tooLarge = refuseRequest(413, "the body is larger than this server accepts");

/** Headers that proxies and this server must read alike: of two values, each could take a different one. */
const mirrors = ["mcp-protocol-version", "mcp-method", "mcp-name"];
const single = [...mirrors, "mcp-session-id", "last-event-id", "authorization"];
const repeated: readonly (readonly [string, HttpRefusal])[] = single.map((name) => {
  const what = `"${name}" must not be repeated`;
  return [name, mirrors.includes(name) ? refuseHeader(what) : refuseRequest(400, what)];
});
const garbled = refuseHeader('"mcp-name" must be visible ASCII, or Base64 of UTF-8 between "=?base64?" and "?="');

/** Options of {@link HeadCheck}. */
export interface HeadCheckOptions {
  /** Accepted values of `Host`. A name without a port is accepted with any port. */
  readonly hosts: readonly string[];
  readonly origins: AllowedOrigins;
}

/** Checks the head of a request. Its methods return a refusal, or `undefined`. */
export class HeadCheck {
  readonly #hosts: HostList;
  readonly #origins: OriginList;
  readonly #maxBytes: number;

  /** @param maxBytes - the maximum `Content-Length`. */
  constructor({ hosts, origins }: HeadCheckOptions, maxBytes: number) {
    this.#hosts = new HostList(hosts);
    this.#origins = new OriginList(origins);
    this.#maxBytes = maxBytes;
  }

  /** Checks `Host`, target and `Origin` of every request. */
  origin(request: HttpRequest): HttpRefusal | undefined {
    if (request.isHeadCut === true) return tooManyHeaders;
    const host = request.header("host");
    if (request.count("host") !== 1 || host === undefined) return noHost;
    if (!this.#hosts.has(host)) return foreignHost;
    if (!request.target.startsWith("/") && request.target !== "*") return badTarget;
    const origin = request.header("origin");
    if (origin === undefined) return undefined;
    return request.count("origin") === 1 && this.#origins.has(origin) ? undefined : foreignOrigin;
  }

  /** Checks the other headers of a request to the MCP endpoint, those about the body included. */
  rest(request: HttpRequest): HttpRefusal | undefined {
    for (const [name, refusal] of repeated) if (request.count(name) > 1) return refusal;
    if (request.method !== "POST") return undefined;
    const name = request.header("mcp-name");
    const isGarbled = name !== undefined && decodeHeaderValue(name) === undefined;
    return this.#body(request) ?? (isGarbled ? garbled : undefined);
  }

  #body(request: HttpRequest): HttpRefusal | undefined {
    const coding = request.header("transfer-encoding") ?? "chunked";
    if (coding.trim().toLowerCase() !== "chunked") return unknownCoding;
    if (request.count("content-type") > 1 || !isJsonType(request.header("content-type"))) return badType;
    if (request.count("content-encoding") > 0) return badType;
    if (!acceptsType(request.header("accept"), "application/json")) return notAcceptable;
    return Number(request.header("content-length") ?? 0) > this.#maxBytes ? tooLarge : undefined;
  }
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

// The headers of most clients, which are compared first.
const usualAccept = "application/json, text/event-stream";
const usualTypes = usualAccept.split(", ");

const zeroQuality = /^\s*q\s*=\s*0(?:\.0*)?\s*$/;

/** Returns whether a client accepts answers of a media type. Without the header it accepts every type. */
export function acceptsType(accept: string | undefined, type: string): boolean {
  if (accept === undefined || (accept === usualAccept && usualTypes.includes(type))) return true;
  const family = `${type.slice(0, type.indexOf("/"))}/*`;
  return accept
    .toLowerCase()
    .split(",")
    .some((range) => {
      const [name = "", ...params] = range.split(";");
      return [type, family, "*/*"].includes(name.trim()) && !params.some((param) => zeroQuality.test(param));
    });
}

const maxShownBytes = 256;

/** The path of messages, with or without a slash at its end. */
export class ServedPath {
  readonly #path: string;
  readonly #slashed: string;
  #isSettled = false;

  constructor(path: string) {
    this.#path = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    this.#slashed = path === "/" ? path : `${this.#path}/`;
  }

  /** Returns whether a request has this path. */
  has(path: string): boolean {
    const isServed = path === this.#path || path === this.#slashed;
    if (isServed) this.#isSettled = true;
    return isServed;
  }

  /**
   * Warns once of a POST to another path, before the first request to this one: the author may have mounted the handler at a path
   * without passing that path.
   */
  missed({ method }: HttpRequest, path: string): void {
    if (this.#isSettled || method !== "POST") return;
    this.#isSettled = true;
    const shown = JSON.stringify(clipText(path, maxShownBytes));
    warn(`Cannot serve ${shown}: the app is served at "${this.#path}"; pass { path: ${shown} } if it is mounted there`);
  }
}

/** Headers that pages may send, in addition to the headers of MCP. */
const allowedHeaders = ["accept", "authorization", "content-type", "last-event-id"];
const mcpHeaders = ["mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"];
const exposedHeaders = "mcp-session-id, www-authenticate, retry-after";
const preflightSeconds = "600";
const paramHeader = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;
const maxParamHeaders = 64;

/** Returns the requested headers of tool parameters, whose names the tools define. */
function requestedParams(request: HttpRequest): readonly string[] {
  const names = (request.header("access-control-request-headers") ?? "").toLowerCase().split(",");
  return names
    .map((name) => name.trim())
    .filter((name) => paramHeader.test(name))
    .slice(0, maxParamHeaders);
}

/** Answers the preflight request of a page of an allowed origin. */
export function toPreflight(request: HttpRequest, methods: string): HttpAnswer {
  const headers = [...allowedHeaders, ...mcpHeaders, ...requestedParams(request)];
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
