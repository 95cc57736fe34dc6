import { isJsonType, decodeBody } from "../body.ts";
import type { HttpRequest } from "../message.ts";
import type { PageRefusal } from "./page-answers.ts";
import type { PageAddress } from "./page-address.ts";
import { readPageFields } from "../../inspector/page-requests.ts";
import { boundedText, required, type OptionFields } from "../../options/option.ts";

/** Fields of `POST /enter`. */
export const enterFields: OptionFields<{ readonly token: string }> = { token: required(boundedText(2048)) };

/** Reads a body: `undefined` unless it is a JSON object with these fields, and no others. */
export function readPageBody<TBody>(bytes: Uint8Array, fields: OptionFields<TBody>): TBody | undefined {
  try {
    return readPageFields(JSON.parse(decodeBody(bytes) ?? ""), fields);
  } catch {
    return undefined;
  }
}

/** Reads a query: `undefined` unless it has these parameters, each once, and no others. */
export function readPageQuery<TQuery>(query: string, fields: OptionFields<TQuery>): TQuery | undefined {
  const parameters = [...new URLSearchParams(query)];
  if (new Set(parameters.map(([name]) => name)).size < parameters.length) return undefined;
  const isNumber = (name: string): boolean => name === "before" || name === "limit";
  const read = parameters.map(([name, text]) => [name, isNumber(name) && /^\d+$/.test(text) ? Number(text) : text]);
  return readPageFields(Object.fromEntries(read), fields);
}

/** Returns a refusal for a request that is not for the page. A name that was bound to this address by another site is another `Host`. */
export function checkHost(request: HttpRequest, address: PageAddress): PageRefusal | undefined {
  if (request.isHeadCut === true) return "tooManyHeaders";
  const host = request.header("host");
  if (host === undefined || request.count("host") !== 1) return "badRequest";
  if (!address.hosts.has(host.toLowerCase())) return "foreignHost";
  return address.isLocal && request.isRemote === true ? "remoteClient" : undefined;
}

/**
 * Returns a refusal for a request of another page. Pages on other ports of the host are of the same site, and their requests have the
 * cookie. Call {@link checkHost} first.
 *
 * @param isEntry - whether people open this path.
 */
export function checkSender(request: HttpRequest, address: PageAddress, isEntry: boolean): PageRefusal | undefined {
  const origin = request.header("origin");
  const own = `${address.scheme}${request.header("host")}`;
  if (origin !== undefined && origin.toLowerCase() !== own.toLowerCase()) return "foreignPage";
  const site = request.header("sec-fetch-site");
  // Programs, and browsers older than the header, do not send it.
  if (site === undefined || site === "same-origin" || (isEntry && site === "none")) return undefined;
  return "foreignPage";
}

/** Returns a refusal for a body that is not JSON. Forms of other pages can send every other type. */
export function checkBodyHead(request: HttpRequest): PageRefusal | undefined {
  const isJson = request.count("content-type") === 1 && isJsonType(request.header("content-type"));
  return isJson && request.count("content-encoding") === 0 ? undefined : "badType";
}
