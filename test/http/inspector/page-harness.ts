import { RawClient } from "../node/raw-client.ts";
import type { PageExposure, PageSnapshot } from "../../../src/inspector/messages.ts";
import type { HttpAnswer } from "../../../src/http/message.ts";
import type { PageSource } from "../../../src/http/inspector/page-source.ts";
import type { PageFiles } from "../../../src/http/inspector/page-files.ts";
import { openPageServer, type PageServer } from "../../../src/http/inspector/page-server.ts";

function file(type: string, body: string): HttpAnswer {
  return { status: 200, headers: { "content-type": type }, body };
}

/** The files of a page, without what the build makes. */
export const placeholderFiles: PageFiles = new Map([
  ["", file("text/html; charset=utf-8", "<!doctype html>")],
  ["page.js", file("text/javascript; charset=utf-8", "export {};")],
  ["page.css", file("text/css; charset=utf-8", "body {}")],
]);

const nothing = { rows: [], more: 0 };

function toSnapshot(at: number, filler: string): PageSnapshot {
  return {
    at,
    app: { name: `demo${filler}`, version: "1", instance: "one", approve: true, values: false },
    clients: nothing,
    calls: nothing,
    questions: nothing,
    approvals: [],
    links: [],
    values: nothing,
    seconds: [],
    tools: nothing,
    refusals: {},
    exposure: 1,
    history: [],
    oldest: 0,
  };
}

/** An inspector whose updates a test sends, and which keeps what it was asked to do. */
export class FakeInspector implements PageSource {
  /** Calls of the routes, as `name` and arguments. */
  readonly heard: unknown[][] = [];
  readonly listeners = new Set<(json: string) => void>();
  snapshots = 0;
  /** Makes snapshots large. */
  filler = "";
  /** Thrown by each method. */
  fault: Error | undefined;

  snapshot(): PageSnapshot {
    this.#hear("snapshot");
    this.snapshots += 1;
    return toSnapshot(this.snapshots, this.filler);
  }

  subscribe(listener: (json: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Sends an update to all streams. */
  update(text: string): void {
    for (const listener of this.listeners) listener(text);
  }

  history(filters: object): { rows: [] } {
    this.#hear("history", filters);
    return { rows: [] };
  }

  exposure(): PageExposure {
    this.#hear("exposure");
    return { version: 1, views: [], entries: [], unexposed: [], more: { views: 0, entries: 0, unexposed: 0 } };
  }

  entry(id: string, kind?: string): { id: string; json: null } | undefined {
    this.#hear("entry", id, ...(kind === undefined ? [] : [kind]));
    return id === "known" ? { id, json: null } : undefined;
  }

  cancel(call: string): boolean {
    this.#hear("cancel", call);
    return call === "known";
  }

  decide(approval: string, decision: object): boolean {
    this.#hear("decide", approval, decision);
    return approval === "known";
  }

  #hear(...call: unknown[]): void {
    if (this.fault !== undefined) throw this.fault;
    this.heard.push(call);
  }
}

/** A page server over a fake inspector. */
export interface OpenPage extends PageServer {
  readonly inspector: FakeInspector;
  readonly port: number;
  readonly faults: unknown[];
  /** Enters by a new link. Returns the value for `Cookie`. */
  enter(this: void): Promise<string>;
}

const servers: PageServer[] = [];

/** Opens a page server, which {@link closePages} closes. */
export async function openPage({ approve = true, files = placeholderFiles } = {}): Promise<OpenPage> {
  const inspector = new FakeInspector();
  const faults: unknown[] = [];
  const server = await openPageServer(0, { inspector, files, approve, fail: (cause) => void faults.push(cause) });
  servers.push(server);
  const enter = async (): Promise<string> => {
    const response = await post(`${server.url}enter`, { token: tokenOf(server.link()) });
    return cookieOf(response);
  };
  return { ...server, inspector, port: Number(new URL(server.url).port), faults, enter };
}

/** Closes the page servers of a test. */
export async function closePages(): Promise<void> {
  for (const server of servers.splice(0)) await server.close();
}

/** Returns the token of a link. */
export function tokenOf(link: string): string {
  return new URL(link).hash.replace("#token=", "");
}

/** Returns the cookie that a response sets, as a browser sends it. */
export function cookieOf(response: Response): string {
  const [set = ""] = response.headers.getSetCookie();
  return set.slice(0, set.indexOf(";"));
}

/** Sends JSON. */
export function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** Returns the code of a refusal. */
export async function codeOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { readonly error: { readonly code: string } };
  return error.code;
}

/** A response as it was sent. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

function readRaw(heard: string): RawAnswer {
  const end = heard.indexOf("\r\n\r\n");
  const [first = "", ...rest] = heard.slice(0, end).split("\r\n");
  const pairs = rest.map((line): [string, string] => {
    const at = line.indexOf(":");
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
  });
  return { status: Number(first.split(" ")[1]), headers: new Map(pairs), body: heard.slice(end + 4) };
}

/**
 * Sends a request as it is written, and reads what is sent until the connection closes. A path in `start` is under that of the page.
 * `Host` is the page's own unless given; the line `host:` leaves it out. A body follows an empty line.
 */
export async function sendRaw(url: string, start: string, lines: readonly string[] = []): Promise<RawAnswer> {
  const { port, pathname } = new URL(url);
  const client = new RawClient(Number(port));
  const own = lines.some((line) => /^host:/i.test(line)) ? [] : [`host: 127.0.0.1:${port}`];
  const sent = [
    `${start.replace(" /", ` ${pathname}`)} HTTP/1.1`,
    ...own,
    "connection: close",
    ...lines.filter((line) => line !== "host:"),
  ];
  client.send(sent.join("\r\n"), lines.includes("") ? "" : "\r\n\r\n");
  return readRaw(await client.closed());
}

/** Sends JSON as {@link sendRaw}. */
export function postRaw(url: string, [route, ...headers]: readonly string[], body: string): Promise<RawAnswer> {
  const own = ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`];
  return sendRaw(url, `POST /${route}`, [...own, ...headers, "", body]);
}
