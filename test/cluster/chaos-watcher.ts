import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { finished } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { judgeMessage } from "./judge-message.ts";

/** Options of a client that watches one resource. */
export interface WatchingOptions {
  readonly url: string;
  readonly name: string;
  /** The principal, and its token. */
  readonly user: string;
  readonly isLegacy: boolean;
  readonly uri: string;
}

const accept = "application/json, text/event-stream";
const clientInfo = { name: "watcher", version: "1.0.0" };
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": clientInfo,
};
const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };

/** A session of a client up to 2025-11-25. */
interface WatchedSession {
  readonly id: string;
  readonly since: number;
  lastEventId: string | undefined;
}

function readAll(response: IncomingMessage): Promise<void> {
  return finished(response.resume());
}

/**
 * A client that only watches, over plain HTTP: one process has room for hundreds. Opens its stream again when that ends, and checks each
 * message. Call `close()` when done.
 */
export class ChaosWatcher {
  readonly options: WatchingOptions;
  deliveries = 0;
  notices = 0;
  /** Messages that belong to another client. */
  readonly foreign: string[] = [];
  /** Times at which those sessions began that had ended. */
  readonly lostSessions: number[] = [];
  #isStale = false;
  #isClosed = false;
  #running: ClientRequest | undefined;
  #session: WatchedSession | undefined;

  constructor(options: WatchingOptions) {
    this.options = options;
  }

  /** Whether it was notified since {@link hold}. */
  get isStale(): boolean {
    return this.#isStale;
  }

  hold(): void {
    this.#isStale = false;
  }

  /** Resolves when its first stream is open. */
  async connect(): Promise<void> {
    await new Promise<void>((resolve) => void this.#watch(resolve));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#running?.destroy();
  }

  /** Never rejects. */
  async #watch(opened: () => void): Promise<void> {
    while (!this.#isClosed) {
      try {
        const stream = await (this.options.isLegacy ? this.#openLegacy() : this.#openModern());
        opened();
        await this.#follow(stream);
      } catch {
        // A replica was killed, or refused: another one takes the next request.
      }
      await pause(100);
    }
  }

  async #openModern(): Promise<IncomingMessage> {
    const { name, uri } = this.options;
    const params = { _meta: envelope, notifications: { resourceSubscriptions: [uri] } };
    const method = "subscriptions/listen";
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
    const stream = await this.#send("POST", headers, { id: name, method, params });
    // What changed before is not announced to this stream.
    this.#isStale = true;
    return stream;
  }

  async #openLegacy(): Promise<IncomingMessage> {
    this.#session ??= await this.#begin();
    const { id, lastEventId } = this.#session;
    const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    return this.#send("GET", { ...headers, "mcp-session-id": id });
  }

  async #begin(): Promise<WatchedSession> {
    const since = performance.now();
    const opened = await this.#send("POST", {}, { id: 0, method: "initialize", params: initialize });
    await readAll(opened);
    const id = String(opened.headers["mcp-session-id"]);
    const headers = { "mcp-session-id": id };
    await readAll(await this.#send("POST", headers, { method: "notifications/initialized" }));
    const params = { uri: this.options.uri };
    await readAll(await this.#send("POST", headers, { id: 1, method: "resources/subscribe", params }));
    return { id, since, lastEventId: undefined };
  }

  /** Sends a request. Rejects if it is refused. */
  async #send(method: string, headers: Record<string, string>, message?: object): Promise<IncomingMessage> {
    const { url, user } = this.options;
    const body = message && JSON.stringify({ jsonrpc: "2.0", ...message });
    const all = { ...headers, accept, "content-type": "application/json", authorization: `Bearer ${user}` };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      this.#running = request(url, { method, headers: all }, resolve).on("error", reject).end(body);
      if (this.#isClosed) this.#running.destroy();
    });
    const { statusCode = 0 } = response;
    if (statusCode < 300) return response;
    await readAll(response);
    if (statusCode === 404 && this.#session !== undefined) {
      this.lostSessions.push(this.#session.since);
      this.#session = undefined;
    }
    throw new Error(`The server answered ${statusCode}`);
  }

  /** Reads the events of a stream until it ends. */
  async #follow(stream: IncomingMessage): Promise<void> {
    let rest = "";
    for await (const text of stream.setEncoding("utf8")) {
      const events = (rest + String(text)).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) this.#onEvent(event);
    }
  }

  #onEvent(event: string): void {
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(event)?.[1];
    const [id, data = ""] = [field("id"), field("data")];
    if (id !== undefined && this.#session !== undefined) this.#session.lastEventId = id;
    if (data === "") return;
    this.deliveries += 1;
    const { name, uri, isLegacy } = this.options;
    const expected = { name, uri, total: undefined, subscriptionId: isLegacy ? undefined : name };
    const verdict = judgeMessage(JSON.parse(data), expected);
    if (verdict === "notice") {
      this.notices += 1;
      this.#isStale = true;
    } else if (verdict !== undefined) this.foreign.push(verdict);
  }
}
