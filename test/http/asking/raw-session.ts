import { until } from "../../surface/support.ts";
import { able, type Question } from "./ask-harness.ts";

type Message = Readonly<Record<string, unknown>>;

/** What a request over a socket is answered, as far as it has come. */
export class RawReply {
  readonly status: number;
  readonly messages: Message[] = [];
  /** The ids of the events, also of those without data. */
  readonly ids: string[] = [];
  isEnded = false;
  readonly #cut: () => void;

  constructor(response: Response, cut: () => void) {
    this.status = response.status;
    this.#cut = cut;
    void this.#read(response).catch(() => {});
  }

  /** Loses the connection. */
  cut(): void {
    this.#cut();
  }

  /** The first question, once there is one. */
  async question(): Promise<Question> {
    const find = (): Message | undefined => this.messages.find((message) => "id" in message && "method" in message);
    await until(() => find() !== undefined, "a question");
    // A message of ours with an id and a method is one.
    return find() as unknown as Question;
  }

  /** The answer, once it is there. */
  async answer(): Promise<Message> {
    const find = (): Message | undefined => this.messages.find((message) => "result" in message || "error" in message);
    await until(() => find() !== undefined, "an answer");
    return find() ?? {};
  }

  async #read(response: Response): Promise<void> {
    const isStream = response.headers.get("content-type") === "text/event-stream";
    const decoder = new TextDecoder();
    let text = "";
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if (!isStream) continue;
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) this.#event(part);
    }
    // What is sent is JSON-RPC.
    if (!isStream && text !== "") this.messages.push(JSON.parse(text) as Message);
    this.isEnded = true;
  }

  #event(part: string): void {
    for (const line of part.split("\n")) {
      if (line.startsWith("id: ")) this.ids.push(line.slice(4));
      // What is sent is JSON-RPC.
      if (line.startsWith("data: {")) this.messages.push(JSON.parse(line.slice(6)) as Message);
    }
  }
}

/** A session over real sockets, written by hand. */
export class RawSession {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
  }

  /** Opens one. @param token - of whoever asks. */
  static async open(url: string, token?: string): Promise<RawSession> {
    const own = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: able,
      clientInfo: { name: "raw", version: "1" },
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: "first", method: "initialize", params });
    const response = await fetch(url, { method: "POST", headers: own, body });
    await response.arrayBuffer();
    const id = response.headers.get("mcp-session-id") ?? "";
    const session = new RawSession(url, { ...own, "mcp-session-id": id });
    await session.post({ method: "notifications/initialized" });
    return session;
  }

  /** The same session, used by whoever has this token. */
  as(token: string): RawSession {
    return new RawSession(this.#url, { ...this.#headers, authorization: `Bearer ${token}` });
  }

  /** Sends a message. */
  post(message: object): Promise<RawReply> {
    return this.#send({ method: "POST", body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  }

  /** Calls a tool. */
  call(id: number, name: string): Promise<RawReply> {
    return this.post({ id, method: "tools/call", params: { name, arguments: {} } });
  }

  /** Answers a question. */
  respond({ id }: Question, result: object): Promise<RawReply> {
    return this.post({ id, result });
  }

  /** Goes on reading a stream. */
  resume(lastId: string): Promise<RawReply> {
    return this.#send({ method: "GET", headers: { "last-event-id": lastId } });
  }

  /** Ends it. */
  end(): Promise<RawReply> {
    return this.#send({ method: "DELETE" });
  }

  async #send(more: { method: string; body?: string; headers?: Readonly<Record<string, string>> }): Promise<RawReply> {
    const controller = new AbortController();
    const headers = { ...this.#headers, ...more.headers };
    const response = await fetch(this.#url, { ...more, headers, signal: controller.signal });
    return new RawReply(response, () => controller.abort());
  }
}
