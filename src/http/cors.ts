import type { EventSink, HttpAnswer, HttpReply, HttpRequest } from "./message.ts";

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

/** A reply that a page of one origin may read. */
export class CorsReply implements HttpReply {
  readonly #reply: HttpReply;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param origin - one that is allowed. */
  constructor(reply: HttpReply, origin: string) {
    this.#reply = reply;
    this.#headers = {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": exposedHeaders,
      vary: "origin",
    };
  }

  get isOver(): boolean {
    return this.#reply.isOver;
  }

  get heldBytes(): number {
    return this.#reply.heldBytes ?? 0;
  }

  get onGone(): (() => void) | undefined {
    return this.#reply.onGone;
  }

  set onGone(told: (() => void) | undefined) {
    this.#reply.onGone = told;
  }

  get owner(): string | undefined {
    return this.#reply.owner;
  }

  set owner(owner: string | undefined) {
    this.#reply.owner = owner;
  }

  answer(answer: HttpAnswer): void {
    this.#reply.answer({ ...answer, headers: { ...answer.headers, ...this.#headers } });
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    return this.#reply.stream({ ...headers, ...this.#headers });
  }
}
