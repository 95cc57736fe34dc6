import { setImmediate } from "node:timers/promises";
import { anonymous, type Caller } from "../../../src/surface/caller.ts";
import type { HeldBytes } from "../../../src/http/body.ts";
import { SessionHandler } from "../../../src/http/sessions/session-handler.ts";
import type { EventSink, HttpAnswer, HttpReply, HttpRequest } from "../../../src/http/message.ts";
import type { HttpDeps } from "../../../src/http/http-deps.ts";
import type { HttpBounds } from "../../../src/http/options.ts";
import { StageCounters } from "../../../src/http/admission.ts";
import { createHttpSetting } from "../support/http-setting.ts";
import { parseFrame } from "../../../src/mcp/parse-frame.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { ManualClock } from "../../links/manual-clock.ts";

/** One event as it was written. */
export interface Event {
  readonly id: string | undefined;
  readonly data: Record<string, unknown> | undefined;
}

function readEvent(text: string): Event | undefined {
  const fields = new Map(
    text.split("\n").map((line) => [line.split(": ", 1)[0] ?? "", line.slice(line.indexOf(":") + 2)]),
  );
  const data = fields.get("data");
  if (data === undefined) return undefined;
  // What is sent is a JSON-RPC message.
  return { id: fields.get("id"), data: data === "" ? undefined : (JSON.parse(data) as Record<string, unknown>) };
}

/** A stream whose client reads only while it is told to. */
export class FakeSink implements EventSink {
  text = "";
  isFull = false;
  onDrain: (() => void) | undefined;
  state: "open" | "ended" | "destroyed" = "open";
  /** Is full after so many more writes. */
  room = Infinity;

  write(text: string): void {
    if (this.state !== "open") return;
    this.text += text;
    this.room -= 1;
    if (this.room <= 0) this.isFull = true;
  }

  end(): void {
    if (this.state === "open") this.state = "ended";
  }

  destroy(): void {
    if (this.state === "open") this.state = "destroyed";
  }

  /** The client has read everything. */
  drain(room = Infinity): void {
    this.room = room;
    this.isFull = false;
    this.onDrain?.();
  }

  /** All events so far, those that only carry an id too. */
  get events(): readonly Event[] {
    return this.text.split("\n\n").flatMap((part) => readEvent(part) ?? []);
  }

  /** The messages so far. */
  get messages(): readonly Record<string, unknown>[] {
    return this.events.flatMap(({ data }) => (data === undefined ? [] : [data]));
  }
}

/** One exchange as its client sees it. */
export class FakeReply implements HttpReply {
  given: HttpAnswer | undefined;
  sink: FakeSink | undefined;
  headers: Readonly<Record<string, string>> = {};
  onGone: (() => void) | undefined;
  readonly #room: number;
  #isGone = false;

  constructor(room = Infinity) {
    this.#room = room;
  }

  get isOver(): boolean {
    return this.#isGone || this.given !== undefined || this.sink !== undefined;
  }

  answer(answer: HttpAnswer): void {
    if (this.isOver) return;
    this.given = answer;
    this.headers = answer.headers ?? {};
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    const sink = new FakeSink();
    sink.room = this.#room;
    if (this.isOver) sink.state = "destroyed";
    else {
      this.sink = sink;
      this.headers = headers;
    }
    return sink;
  }

  /** The connection is lost. */
  cut(): void {
    this.#isGone = true;
    this.sink?.destroy();
    this.onGone?.();
  }

  /** Status and body of an answer in one piece. */
  get plain(): { readonly status: number; readonly body: Record<string, unknown> } {
    const { status = 0, body = "{}" } = this.given ?? {};
    // What is sent is a JSON-RPC message.
    return { status, body: JSON.parse(body === "" ? "{}" : body) as Record<string, unknown> };
  }

  get events(): readonly Event[] {
    return this.sink?.events ?? [];
  }

  get messages(): readonly Record<string, unknown>[] {
    return this.sink?.messages ?? [];
  }
}

/** What one request says besides its frame. */
export interface Sent {
  readonly session?: string | undefined;
  readonly caller?: Caller;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bytes?: HeldBytes;
}

/** A leg without a network: requests go in as they are judged, answers are looked at as they are given. */
export class SessionHarness {
  readonly clock = new ManualClock();
  readonly counters = new StageCounters();
  readonly leg: SessionHandler;
  readonly setting: HttpDeps;
  readonly #runtime: AppRuntime;

  constructor(runtime: AppRuntime, more: Partial<HttpBounds> = {}) {
    this.#runtime = runtime;
    this.setting = createHttpSetting({ runtime, clock: this.clock, counters: this.counters, more });
    this.leg = new SessionHandler(this.setting);
  }

  /** Sends one message, whose client reads so many writes of the answer before it is slow. */
  post(message: object, sent: Sent = {}, room = Infinity): FakeReply {
    const reply = new FakeReply(room);
    const frame = parseFrame(JSON.stringify({ jsonrpc: "2.0", ...message }), this.#runtime.limits);
    const { caller = anonymous, bytes } = sent;
    const exchange = { request: this.#request("POST", sent), reply, caller, bytes };
    if (frame.kind === "request") this.leg.request(exchange, frame);
    else if (frame.kind === "notification" || frame.kind === "response") this.leg.message(exchange, frame);
    else throw new Error(`it is no message: ${frame.kind}`);
    return reply;
  }

  /** Opens or resumes a stream, whose client reads so many writes before it is slow. */
  get(sent: Sent, lastId?: string, room = Infinity): FakeReply {
    const reply = new FakeReply(room);
    const headers = {
      accept: "text/event-stream",
      ...sent.headers,
      ...(lastId === undefined ? {} : { "last-event-id": lastId }),
    };
    this.leg.get({ request: this.#request("GET", { ...sent, headers }), reply, caller: sent.caller ?? anonymous });
    return reply;
  }

  /** Ends a session. */
  delete(sent: Sent): FakeReply {
    const reply = new FakeReply();
    this.leg.delete({ request: this.#request("DELETE", sent), reply, caller: sent.caller ?? anonymous });
    return reply;
  }

  /** Opens a session and returns its id. */
  async open({
    version = "2025-11-25",
    caller = anonymous,
    capabilities = {},
  }: { version?: string; caller?: Caller; capabilities?: object } = {}): Promise<string> {
    const reply = this.post(handshakeOf(version, capabilities), { caller });
    await this.until(() => reply.given !== undefined);
    const id = reply.headers["mcp-session-id"] ?? "";
    this.post({ method: "notifications/initialized" }, { session: id, caller });
    return id;
  }

  /** Waits until something has come about. */
  async until(done: () => boolean): Promise<void> {
    const start = performance.now();
    while (!done()) {
      if (performance.now() - start > 20_000) throw new Error("it did not come to that");
      await setImmediate();
    }
  }

  async close(): Promise<void> {
    await this.leg.close();
    await this.#runtime.close();
  }

  #request(method: string, { session, headers = {} }: Sent): HttpRequest {
    const all: Readonly<Record<string, string>> = {
      accept: "application/json, text/event-stream",
      ...(session === undefined ? {} : { "mcp-session-id": session }),
      ...headers,
    };
    return {
      method,
      target: "/mcp",
      header: (name) => all[name],
      count: (name) => (name in all ? 1 : 0),
      body: (_maxBytes, done) => done("gone"),
    };
  }
}

/** The handshake as a client of a version sends it. */
export function handshakeOf(version: string, capabilities: object = {}): object {
  const params = { protocolVersion: version, capabilities, clientInfo: { name: "test", version: "1" } };
  return { id: "first", method: "initialize", params };
}

/** A call, with a progress token where one is given. */
export function callOf(
  id: number | string,
  name: string,
  more: { args?: object; token?: string | number } = {},
): object {
  const { args = {}, token } = more;
  const meta = token === undefined ? {} : { _meta: { progressToken: token } };
  return { id, method: "tools/call", params: { name, arguments: args, ...meta } };
}
