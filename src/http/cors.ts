import type { HttpAnswer, HttpRequest } from "./message.ts";

/** Headers that pages may send, besides those that begin with `mcp-`. */
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

/** What a page of an allowed origin is told before it sends anything. */
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
