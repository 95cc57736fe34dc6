import { anonymous, type Caller } from "../../../src/surface/caller.ts";
import type { HeldBytes } from "../../../src/http/body.ts";
import type { HttpRequest } from "../../../src/http/message.ts";
import { StatelessHandler } from "../../../src/http/stateless-handler.ts";
import type { HttpDeps } from "../../../src/http/http-deps.ts";
import type { HttpBounds } from "../../../src/http/options.ts";
import { StageCounters } from "../../../src/http/admission.ts";
import { createHttpSetting } from "../support/http-setting.ts";
import { parseFrame } from "../../../src/mcp/parse-frame.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { envelope } from "../../fixtures/envelope.ts";
import { ManualClock } from "../../links/manual-clock.ts";
import { settle } from "../../surface/support.ts";
import { FakeReply } from "../sessions/session-harness.ts";

/** What one request says besides its frame. */
export interface Sent {
  readonly caller?: Caller;
  readonly accept?: string;
  /** Added to the envelope. */
  readonly meta?: object;
  /** Bytes of the body. */
  readonly bytes?: HeldBytes;
}

/** A request as a client of the modern era writes it. */
export interface Ask {
  readonly id: number | string;
  readonly method: string;
  readonly params?: object | undefined;
}

function toRequest({ method, params = {} }: Ask, accept: string): HttpRequest {
  const name: unknown = Reflect.get(params, method === "resources/read" ? "uri" : "name");
  const headers: Readonly<Record<string, string>> = {
    accept,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
  };
  return {
    method: "POST",
    target: "/mcp",
    header: (header) => headers[header],
    count: (header) => (header in headers ? 1 : 0),
    body: (_maxBytes, done) => done("gone"),
  };
}

/** A leg without a network: requests go in as they are judged, answers are looked at as they are given. */
export class StatelessHarness {
  readonly clock = new ManualClock();
  readonly counters = new StageCounters();
  readonly leg: StatelessHandler;
  readonly setting: HttpDeps;
  readonly #runtime: AppRuntime;

  constructor(runtime: AppRuntime, more: Partial<HttpBounds> = {}) {
    this.#runtime = runtime;
    this.setting = createHttpSetting({ runtime, clock: this.clock, counters: this.counters, more });
    this.leg = new StatelessHandler(this.setting);
  }

  /** Sends a request. */
  ask(ask: Ask, sent: Sent = {}): FakeReply {
    const { accept = "application/json, text/event-stream", meta = {} } = sent;
    const params = { ...ask.params, _meta: { ...envelope, ...meta } };
    const { caller = anonymous, bytes } = sent;
    const request = toRequest(ask, accept);
    const reply = new FakeReply();
    const frame = parseFrame(JSON.stringify({ jsonrpc: "2.0", ...ask, params }), this.#runtime.limits);
    if (frame.kind !== "request") throw new Error(`it is no request: ${frame.kind}`);
    const view = this.#runtime.viewFor(caller);
    this.leg.request({ request, reply, caller, bytes }, { frame, caller, view });
    return reply;
  }

  /** Calls a tool. */
  call(
    id: number | string,
    name: string,
    more: Sent & { readonly args?: object; readonly token?: string | number } = {},
  ) {
    const { args = {}, token, meta = {}, ...sent } = more;
    const progress = token === undefined ? {} : { progressToken: token };
    const params = { name, arguments: args };
    return this.ask({ id, method: "tools/call", params }, { ...sent, meta: { ...meta, ...progress } });
  }

  /** Waits, as long as it is a matter of turns. */
  async until(done: () => boolean): Promise<void> {
    const deadline = performance.now() + 15_000;
    while (!done()) {
      if (performance.now() > deadline) throw new Error("it did not come to that");
      await settle(1);
    }
  }

  /** Waits for the end of an answer. */
  async answered(reply: FakeReply): Promise<FakeReply> {
    await this.until(() => reply.given !== undefined || (reply.sink !== undefined && reply.sink.state !== "open"));
    return reply;
  }

  async close(): Promise<void> {
    await this.leg.close();
    this.setting.keepAlive.close();
    await this.#runtime.close();
  }
}
