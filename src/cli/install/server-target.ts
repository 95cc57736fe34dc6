import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { isLoopback } from "../../http/addresses.ts";
import { refused, usage } from "../cli-errors.ts";
import { aroundReferences } from "./variables.ts";

/** The address of a server: a URL, or the command that starts it. */
export type ServerTarget =
  | {
      readonly kind: "http";
      readonly url: string;
      /** Name of the environment variable with the token. The client reads it, so that no file has the token. */
      readonly tokenEnv: string | undefined;
    }
  | { readonly kind: "stdio"; readonly command: string; readonly args: readonly string[] };

/** The view and project that a client uses. @default the default view, without a project */
export interface ViewChoice {
  readonly surface?: string;
  readonly project?: string;
}

/** Fields that name a view. */
export const viewFields = ["surface", "project"] as const;

function readUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw usage(`Cannot install: "--url" must be a URL that begins with "http://" or "https://", is "${text}"`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw usage(`Cannot install: "--url" must begin with "http://" or "https://", begins with "${url.protocol}"`);
  }
  if (url.username !== "" || url.password !== "") {
    throw refused(`Cannot install: the URL must hold no password; name the variable of a token with "--token-env"`);
  }
  return url;
}

/** Refuses a token over plain HTTP: every hop could read it. Loopback is safe. */
function assertSafe({ protocol, hostname }: URL): void {
  if (protocol === "https:" || isLoopback(hostname.replace(/^\[|\]$/g, ""))) return;
  throw refused(
    `Cannot install: the token would go to "${hostname}" unencrypted; use a URL that begins with "https://", or leave out "--token-env"`,
  );
}

/**
 * Returns the target for a URL, with the view added to its query. The rest of the URL and its variable references stay as written.
 *
 * @throws Refusal `USAGE` for an invalid URL, or one that has a view already; `REFUSED` for a URL with a password, and for one to which
 * a token would go unencrypted.
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
      throw usage(`Cannot install: the URL already has a ${field}; leave out "--${field}", or remove it from the URL`);
    }
    // Not by searchParams, which would encode the rest of the query again.
    url.search += `${url.search === "" ? "?" : "&"}${field}=${encodeURIComponent(value)}`;
  }
  return url.href;
}

/** Returns the target for a command. Arguments name the view; `stdio()` of the program reads them. */
export function toStdioTarget(line: readonly string[], view: ViewChoice): ServerTarget {
  const [command = "", ...args] = line;
  const chosen = viewFields.flatMap((field) => (view[field] === undefined ? [] : [`--${field}`, view[field]]));
  return { kind: "stdio", command, args: [...args, ...chosen] };
}

/**
 * Returns the target with absolute paths of the files that its command names, for clients that start it in another folder. A program
 * without a slash stays, since the system looks for it in `PATH`.
 */
export function withAbsoluteFiles(target: ServerTarget, cwd: string): ServerTarget {
  if (target.kind === "http") return target;
  const { command, args } = target;
  const toAbsolute = (word: string): string => {
    const path = resolve(cwd, word);
    return existsSync(path) && statSync(path).isFile() ? path : word;
  };
  return { ...target, command: /[/\\]/.test(command) ? toAbsolute(command) : command, args: args.map(toAbsolute) };
}
