import { isLoopback } from "../http/addresses.ts";
import { refused, usage } from "./cli-errors.ts";
import { aroundReferences } from "./variables.ts";

/** How a client reaches a server. */
export type ServerTarget =
  | {
      readonly kind: "http";
      readonly url: string;
      /** The environment variable that holds the token, for the client to read: the token itself is in no file. */
      readonly tokenEnv: string | undefined;
    }
  | { readonly kind: "stdio"; readonly command: string; readonly args: readonly string[] };

/** The view that a client is to come by. Left out: the default one, of no project. */
export interface ViewChoice {
  readonly surface?: string;
  readonly project?: string;
}

const viewFields = ["surface", "project"] as const;

function readUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw usage(`Installing: "--url" must be a URL that begins with "http://" or "https://", is "${text}"`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw usage(`Installing: "--url" must begin with "http://" or "https://", begins with "${url.protocol}"`);
  }
  if (url.username !== "" || url.password !== "") {
    throw refused(`Installing: the URL must hold no password: name the variable of a token by "--token-env"`);
  }
  return url;
}

/** What the client sends with every request is read by everybody on the way, unless there is none. */
function assertSafe({ protocol, hostname }: URL): void {
  if (protocol === "https:" || isLoopback(hostname.replace(/^\[|\]$/g, ""))) return;
  throw refused(
    `Installing: the token would go to "${hostname}" unencrypted: the URL must begin with "https://", or leave out "--token-env"`,
  );
}

/**
 * A server that is reached by a URL. What the URL asks for stays as it is written, as do references to variables;
 * the view is added to it.
 *
 * @throws Refusal `USAGE` for what is no such URL, or one that names a view already; `REFUSED` for one with a password, and for
 * one to which a token would go unencrypted.
 */
export function toHttpTarget(text: string, view: ViewChoice, tokenEnv: string | undefined): ServerTarget {
  return { kind: "http", url: aroundReferences(text, (plain) => toUrl(plain, view, tokenEnv)), tokenEnv };
}

function toUrl(text: string, view: ViewChoice, tokenEnv: string | undefined): string {
  const url = readUrl(text);
  if (tokenEnv !== undefined) assertSafe(url);
  for (const field of viewFields) {
    const value = view[field];
    if (value === undefined) continue;
    if (url.searchParams.getAll(field).some((one) => one !== "")) {
      throw usage(`Installing: the URL names a ${field} already: leave out "--${field}", or that of the URL`);
    }
    // Not by searchParams, which would spell everything else in the query anew.
    url.search += `${url.search === "" ? "?" : "&"}${field}=${encodeURIComponent(value)}`;
  }
  return url.href;
}

/** A server that the client starts: the view is told by arguments, which its program hands on to `stdio()`. */
export function toStdioTarget(line: readonly string[], view: ViewChoice): ServerTarget {
  const [command = "", ...args] = line;
  const chosen = viewFields.flatMap((field) => (view[field] === undefined ? [] : [`--${field}`, view[field]]));
  return { kind: "stdio", command, args: [...args, ...chosen] };
}
