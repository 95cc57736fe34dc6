import type { HttpAnswer } from "../message.ts";

/** Headers of every response. The page needs no more than its own two files and routes. */
export const pageHeaders: Readonly<Record<string, string>> = Object.freeze({
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
});

const jsonHeaders = Object.freeze({ "content-type": "application/json" });

/** The answer outside the path of the page. It does not tell that there is one. */
export const noPage: HttpAnswer = Object.freeze({ status: 404 });

/** The answer of a route that has nothing to return. */
export const noContent: HttpAnswer = Object.freeze({ status: 204 });

/** Creates the answer of a route. */
export function toJson(value: unknown): HttpAnswer {
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(value) };
}

/** Status, code, text and headers of each refusal. The texts never have a part of the request. */
const refusals = {
  tooManyHeaders: [431, "TOO_MANY_HEADERS", "The request has too many headers"],
  badRequest: [400, "BAD_REQUEST", "Send exactly one Host"],
  foreignHost: [403, "FOREIGN_HOST", "The page has another host; open its link as it was printed"],
  remoteClient: [403, "REMOTE_CLIENT", "The page is served only to browsers on its own machine"],
  foreignPage: [403, "FOREIGN_PAGE", "Another page sent this request; copy the link of the page into the address bar"],
  noCookie: [401, "NO_COOKIE", "Open the page by a new link of the running process"],
  notFound: [404, "NOT_FOUND", "Nothing has this name or id, or it has ended"],
  getOnly: [405, "METHOD_NOT_ALLOWED", "Send this request by GET", { allow: "GET" }],
  postOnly: [405, "METHOD_NOT_ALLOWED", "Send this request by POST", { allow: "POST" }],
  badType: [415, "BAD_TYPE", "Content-Type must be application/json in UTF-8, without a Content-Encoding"],
  tooLarge: [413, "TOO_LARGE", "The body is larger than 4 KiB"],
  bodyLate: [408, "BODY_LATE", "The body did not arrive in time"],
  badBody: [400, "BAD_BODY", "The body must be a JSON object with the fields of this route, and no others"],
  badQuery: [400, "BAD_QUERY", "The query must have the parameters of this route, each once, and no others"],
  wrongToken: [403, "WRONG_TOKEN", "The link is unknown or was used; get a new link from the running process"],
  tooManyTries: [429, "TOO_MANY_TRIES", "Too many wrong links; try again in a minute", { "retry-after": "60" }],
  tooManyStreams: [503, "TOO_MANY_STREAMS", "Too many pages are open; close one of them", { "retry-after": "5" }],
  away: [
    503,
    "AWAY",
    "The server has ended or does not answer; the page connects when it is back",
    { "retry-after": "2" },
  ],
  closing: [503, "CLOSED", "The server is closing", { "retry-after": "5" }],
  internal: [500, "INTERNAL", "The server failed; its log has the cause"],
} as const;

/** A refusal by a route or a check. */
export type PageRefusal = keyof typeof refusals;

/** Creates the answer of a refusal. */
export function toErrorAnswer(refusal: PageRefusal): HttpAnswer {
  const [status, code, message, headers] = refusals[refusal];
  return { status, headers: { ...jsonHeaders, ...headers }, body: JSON.stringify({ error: { code, message } }) };
}
