import { once } from "node:events";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import { codeOf } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { refused } from "../cli-errors.ts";
import type { Front } from "./front.ts";
import type { Generation } from "./generation.ts";
import { SessionState } from "./session-state.ts";

/** Bytes of the longest body of a request. */
const maxBodyBytes = 64 * 1024 * 1024;

/** Most sessions that a new generation gets; the oldest are forgotten. */
const maxSessions = 1024;

const sessionHeader = "mcp-session-id";

/** A session of a client up to 2025-11-25. */
interface FrontSession {
  readonly state: SessionState;
  /** The path and query of its handshake, which name the view. */
  readonly path: string;
  /** Its id in the present generation. The client knows that of the first one. */
  id: string;
}

function refuse(response: ServerResponse, status: number, problem: string): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { "content-type": "text/plain" }).end(`${problem}\n`);
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    // The stream has no encoding.
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > maxBodyBytes) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function parseBody(body: Buffer): JsonObject {
  try {
    const message: unknown = JSON.parse(body.toString());
    return isJsonObject(message) ? message : {};
  } catch {
    return {};
  }
}

/** The HTTP server of `dev`. It sends each request to the present generation, which checks and answers it. */
export class HttpFront implements Front {
  readonly #server: Server;
  readonly #sessions = new Map<string, FrontSession>();
  #current: Generation | undefined;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => refuse(response, 502, "the request could not be passed on"));
    });
  }

  /** Listens on this machine. @throws Refusal `REFUSED` if the port cannot be used. */
  static async listen(port: number): Promise<HttpFront> {
    const front = new HttpFront();
    try {
      await once(front.#server.listen(port, "127.0.0.1"), "listening");
    } catch (cause) {
      const problem = codeOf(cause) === "EADDRINUSE" ? "another process listens there" : codeOf(cause);
      throw refused(`Cannot serve at port ${port}: ${problem}; choose another by "--port"`);
    }
    return front;
  }

  get served(): string {
    const address = this.#server.address();
    return `at http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/mcp`;
  }

  async swap(next: Generation): Promise<void> {
    for (const [id, session] of this.#sessions) {
      // A generation that has ended meanwhile is reported by its process.
      if (!(await this.#reopen(session, next).catch(() => false))) this.#sessions.delete(id);
    }
    this.#current = next;
  }

  frame(): void {}

  ended(generation: Generation): void {
    if (this.#current === generation) this.#current = undefined;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Opens a session in a new generation. Returns `false` if it refuses the client. */
  async #reopen(session: FrontSession, { port }: Generation): Promise<boolean> {
    let id: string | null = null;
    for (const body of session.state.replay()) {
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const response = await fetch(`http://127.0.0.1:${port}${session.path}`, {
        ...{ method: "POST", body },
        headers: id === null ? headers : { ...headers, [sessionHeader]: id },
      });
      await response.arrayBuffer();
      id ??= response.headers.get(sessionHeader);
      if (id === null) return false;
    }
    if (id !== null) session.id = id;
    return id !== null;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (body === undefined) return refuse(response, 413, "the body is too large");
    const passed = { request, response, body, session: this.#note(request, body) };
    // The stream of notices of a session outlives the generation that it began in.
    const isKept = request.method === "GET" && passed.session !== undefined;
    for (let by = this.#current; ; by = this.#current) {
      if (by?.port === undefined) return refuse(response, 503, "no version of the app has started; see the terminal");
      const isOk = await this.#answer(by.port, passed);
      if (!isKept || !isOk || this.#current === by) break;
    }
    response.end();
  }

  /** Takes note of a request in a session. Returns the session. */
  #note({ headers, method }: IncomingMessage, body: Buffer): FrontSession | undefined {
    const name = String(headers[sessionHeader]);
    const session = this.#sessions.get(name);
    if (method === "POST") session?.state.note(parseBody(body));
    if (method === "DELETE") this.#sessions.delete(name);
    return session;
  }

  /** Passes a request to a generation, and its response to the client. Returns whether the response was a success. */
  async #answer(port: number, passed: PassedRequest): Promise<boolean> {
    const { request, response, session } = passed;
    const answer = await pass(port, passed);
    const { statusCode = 502, headers } = answer;
    const id = headers[sessionHeader];
    if (session === undefined && typeof id === "string") this.#open(id, parseBody(passed.body), request.url ?? "/");
    // The head of a stream is sent once.
    if (response.headersSent && statusCode !== 200) return false;
    if (!response.headersSent) {
      const own = session === undefined ? {} : { [sessionHeader]: request.headers[sessionHeader] };
      response.writeHead(statusCode, { ...withoutHopHeaders(headers), ...own });
      response.flushHeaders();
    }
    answer.pipe(response, { end: false });
    await new Promise((resolve, reject) => answer.once("end", resolve).once("error", reject));
    return statusCode === 200;
  }

  #open(id: string, handshake: JsonObject, path: string): void {
    const state = new SessionState();
    state.note(handshake);
    this.#sessions.set(id, { state, path, id });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > maxSessions && oldest !== undefined) this.#sessions.delete(oldest);
  }
}

/** A request to pass on. */
interface PassedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly session: FrontSession | undefined;
}

/** Sends a request to a generation, until its client leaves. Resolves with the head of the response. */
function pass(port: number, { request, response, body, session }: PassedRequest): Promise<IncomingMessage> {
  const { "last-event-id": _position, ...headers } = withoutHopHeaders(request.headers);
  const upstream = httpRequest({
    ...{ host: "127.0.0.1", port, method: request.method, path: request.url },
    headers: {
      ...headers,
      ...(session === undefined ? {} : { [sessionHeader]: session.id }),
      ...(body.length === 0 ? {} : { "content-length": body.length }),
    },
  });
  const leave = (): unknown => upstream.destroy();
  response.once("close", leave);
  upstream.once("close", () => response.off("close", leave));
  upstream.end(body);
  return new Promise((resolve, reject) => upstream.once("response", resolve).once("error", reject));
}

/** Returns headers without those of one connection. */
function withoutHopHeaders(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const {
    connection: _connection,
    "keep-alive": _time,
    "transfer-encoding": _coding,
    expect: _expect,
    ...rest
  } = headers;
  const { "content-length": _length, ...others } = rest;
  return others;
}
