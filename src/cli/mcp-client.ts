import { Refusal, SurfaceError } from "../errors.ts";
import { pageMimeType } from "../mcp/extensions/extensions.ts";
import { newestLegacyVersion, rpcCodes } from "../mcp/protocol.ts";
import { isJsonObject, parseObject, toList, type JsonObject, type JsonValue } from "../schema/json.ts";
import { withTimeout } from "../surface/system-clock.ts";
import { refused } from "./cli-errors.ts";
import { readVersion } from "./files.ts";

/** Callbacks of a transport. */
export interface TransportEvents {
  /** Takes the text of one message of the server. */
  readonly receive: (text: string) => void;
  /** Takes note that the server is gone. */
  readonly failed: (cause: Error) => void;
}

/** A connection to a server. */
export interface McpTransport {
  /** Sends a message. A promise resolves when the server has sent everything that belongs to it, and rejects if it cannot. */
  send(text: string): void | Promise<void>;
  /** Takes note of the protocol version, which later requests over HTTP name. */
  negotiated?(version: string): void;
  /** Opens the stream of notifications, for transports that need one. Rejects if the server has none. */
  listen?(): Promise<void>;
  /** Closes the connection. */
  close(): void | Promise<void>;
}

/** Opens a connection to a server. */
export type OpenTransport = (events: TransportEvents) => McpTransport;

/** Options of {@link McpClient}. */
export interface McpClientOptions {
  readonly open: OpenTransport;
  /** Whether the client agrees to confirmations. Otherwise it cannot be asked. */
  readonly agrees: boolean;
  /** Whether the client declares that it shows the pages of tools. @default false */
  readonly showsPages?: boolean | undefined;
  /** Milliseconds that the server has for its handshake. */
  readonly timeoutMs: number;
  onNotification(method: string, params: JsonObject): void;
}

/** The extensions of a client that shows the pages of tools. */
const pageExtensions: JsonObject = { "io.modelcontextprotocol/ui": { mimeTypes: [pageMimeType] } };

/** Pages of one list that the client reads. */
const maxPages = 1000;

interface OpenRequest {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (cause: unknown) => void;
}

/** The code of the error that a server answered with. */
export const serverErrorCode = "SERVER_ERROR";

function toFailure({ code, message, data }: JsonObject): Refusal {
  const answer = [code, message].filter((part) => typeof part === "number" || typeof part === "string").join(": ");
  return new Refusal(serverErrorCode, `Cannot get a result: the server answered ${answer}`, { code, data });
}

/** An MCP client of the protocol version 2025-11-25, for one request after another. Its maker closes it. */
export class McpClient {
  readonly #options: McpClientOptions;
  readonly #transport: McpTransport;
  readonly #open = new Map<unknown, OpenRequest>();
  #requests = 0;
  #failure: Error | undefined;

  constructor(options: McpClientOptions) {
    this.#options = options;
    this.#transport = options.open({
      receive: (text) => this.#receive(parseObject(text)),
      failed: (cause) => this.#fail(cause),
    });
  }

  /** Makes the handshake, and returns its result. @throws Error if the server is not an MCP server, or does not answer in time. */
  async start(): Promise<JsonObject> {
    const { agrees, showsPages = false, timeoutMs } = this.#options;
    const opening = this.request("initialize", {
      protocolVersion: newestLegacyVersion,
      capabilities: { ...(agrees && { elicitation: {} }), ...(showsPages && { extensions: pageExtensions }) },
      clientInfo: { name: "surface-mcp", version: readVersion() },
    });
    const result = await withTimeout(opening, timeoutMs, "Cannot connect");
    const { protocolVersion } = result;
    if (typeof protocolVersion === "string") this.#transport.negotiated?.(protocolVersion);
    await this.#send({ method: "notifications/initialized" });
    return result;
  }

  /** Opens the stream of notifications. */
  async listen(): Promise<void> {
    await this.#transport.listen?.();
  }

  /** Sends a request. @throws Refusal `SERVER_ERROR` for an error of the server, any other error if there is no answer. */
  request(method: string, params: JsonObject): Promise<JsonObject> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#requests += 1;
    const id = this.#requests;
    return new Promise<JsonObject>((resolve, reject) => {
      this.#open.set(id, { resolve, reject });
      const unanswered = (): void =>
        reject(
          new SurfaceError("UNAVAILABLE", `Cannot run "${method}": the server ended its response without an answer`),
        );
      this.#send({ id, method, params })?.then(unanswered, reject);
    }).finally(() => this.#open.delete(id));
  }

  /** Returns the entries of a list, of all its pages. @throws as {@link request}, and Refusal `REFUSED` for a list without an end. */
  async list(method: string, field: string): Promise<readonly JsonObject[]> {
    const entries: JsonObject[] = [];
    let cursor: JsonValue | undefined;
    for (let pages = 0; pages < maxPages; pages += 1) {
      const { [field]: page, nextCursor } = await this.request(method, cursor === undefined ? {} : { cursor });
      entries.push(...toList(page).filter(isJsonObject));
      if (typeof nextCursor !== "string") return entries;
      cursor = nextCursor;
    }
    throw refused(`Cannot run "${method}": the list has more than ${maxPages} pages`);
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  #send(message: JsonObject): void | Promise<void> {
    return this.#transport.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  #receive({ id, method, params, result, error }: JsonObject): void {
    if (typeof method === "string") {
      if (id === undefined) this.#options.onNotification(method, isJsonObject(params) ? params : {});
      else this.#send({ id, ...this.#answer(method) })?.catch((cause: Error) => this.#fail(cause));
      return;
    }
    const request = this.#open.get(id);
    if (isJsonObject(error)) request?.reject(toFailure(error));
    else request?.resolve(isJsonObject(result) ? result : {});
  }

  /** Answers a request of the server. */
  #answer(method: string): JsonObject {
    if (method === "ping") return { result: {} };
    if (method === "elicitation/create" && this.#options.agrees) return { result: { action: "accept", content: {} } };
    return { error: { code: rpcCodes.methodNotFound, message: "Method not found" } };
  }

  #fail(cause: Error): void {
    this.#failure ??= cause;
    for (const { reject } of this.#open.values()) reject(cause);
    this.#options.onNotification("closed", {});
  }
}
