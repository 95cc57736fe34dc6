import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { pageIcon } from "../../src/http/inspector/page-files.ts";
import { pageHeaders } from "../../src/http/inspector/page-answers.ts";
import type { HistoryPage, PageExposure, PageSnapshot, PageUpdate } from "../../src/inspector/messages.ts";
import { root } from "../architecture/source.ts";
import { sampleExposure, sampleSnapshot } from "./samples.ts";

const files: ReadonlyMap<string, readonly [name: string, type: string]> = new Map([
  ["/", ["index.html", "text/html; charset=utf-8"]],
  ["/page.js", ["page.js", "text/javascript; charset=utf-8"]],
  ["/page.css", ["page.css", "text/css; charset=utf-8"]],
]);

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** Serves the built page with the headers of the real server, and plays messages to it. */
export class MockServer {
  readonly token = "one-time-token";
  /** The bodies that the page posted, by route. */
  readonly posted: { readonly route: string; readonly body: Record<string, unknown> }[] = [];
  /** The queries for the history. */
  readonly queries: URLSearchParams[] = [];
  snapshot: PageSnapshot = sampleSnapshot();
  exposure: PageExposure = sampleExposure();
  answerHistory: (query: URLSearchParams) => HistoryPage = () => ({ rows: [] });
  answerEntry: (id: string) => unknown = (id) => ({ name: id, inputSchema: { type: "object" } });
  /** The status of `cancel` and `decide`. */
  status = 204;
  /** Whether it answers as a server at another path. */
  isMoved = false;
  cookie = "surface-inspect=secret-of-the-cookie";
  readonly #streams = new Set<ServerResponse>();
  readonly #server: Server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });

  /** Listens, and returns the address of the page. */
  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
  }

  /** The number of open streams. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Sends an event to all open pages. */
  send(event: "snapshot" | "update", data: PageSnapshot | PageUpdate): void {
    for (const stream of this.#streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Ends all streams, as a server that restarts. */
  drop(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  async close(): Promise<void> {
    this.drop();
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    response.setHeaders(new Headers(pageHeaders));
    const file = files.get(url.pathname);
    const [icon, answer] = pageIcon;
    if (this.isMoved) response.writeHead(404).end();
    else if (url.pathname === `/${icon}`) response.writeHead(200, answer.headers).end(answer.body);
    else if (file !== undefined) {
      const [name, type] = file;
      response.setHeader("content-type", type).end(readFileSync(join(root, "dist", "page", name)));
    } else if (request.method === "POST") await this.#post(url.pathname.slice(1), request, response);
    else if (request.headers.cookie !== this.cookie) response.writeHead(401).end();
    else this.#get(url, response);
  }

  async #post(route: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    this.posted.push({ route, body });
    if (route === "enter") {
      const isRight = body["token"] === this.token;
      const headers = { "set-cookie": `${this.cookie}; HttpOnly; SameSite=Strict; Path=/` };
      response.writeHead(isRight ? 204 : 401, isRight ? headers : {}).end();
    } else if (this.status === 204) response.writeHead(204).end();
    else {
      response.writeHead(this.status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { code: "GONE", message: "The call has ended." } }));
    }
  }

  #get(url: URL, response: ServerResponse): void {
    if (url.pathname === "/events") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`retry: 200\nevent: snapshot\ndata: ${JSON.stringify(this.snapshot)}\n\n`);
      this.#streams.add(response);
      response.on("close", () => this.#streams.delete(response));
      return;
    }
    if (url.pathname === "/history") this.queries.push(url.searchParams);
    const id = url.searchParams.get("id") ?? "";
    const answers = new Map<string, () => unknown>([
      ["/history", () => this.answerHistory(url.searchParams)],
      ["/exposure", () => this.exposure],
      ["/entry", () => ({ id, json: this.answerEntry(id) })],
    ]);
    const answer = answers.get(url.pathname);
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer?.() ?? {}));
  }
}
