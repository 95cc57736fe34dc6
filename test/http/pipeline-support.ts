import { Buffer } from "node:buffer";
import type { Caller } from "../../src/surface/caller.ts";
import type { Authenticator } from "../../src/http/auth/create-authenticator.ts";
import { createBudgets, resolveLimits } from "../../src/http/budgets.ts";
import { Admission, type StageCounts, StageCounters } from "../../src/http/admission.ts";
import { HttpPipeline, type HttpPipelineDeps } from "../../src/http/http-pipeline.ts";
import { KeepAlive } from "../../src/http/sse.ts";
import type { BodyRead, EventSink, HttpAnswer, HttpExchange, HttpReply, HttpRequest } from "../../src/http/message.ts";
import { resolveHandlerOptions } from "../../src/http/options.ts";
import { Responder } from "../../src/http/respond.ts";
import { createAnswerRenderer } from "../../src/mcp/protocol.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import { systemClock } from "../../src/surface/system-clock.ts";
import { createHostileApp } from "../fixtures/hostile.ts";

/** A request as it is sent: header by header, some of them maybe twice. */
export interface Sent {
  readonly method?: string;
  readonly target?: string;
  /** `undefined` leaves out what is sent otherwise. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The text `gone` is a client that leaves. */
  readonly body?: string | Uint8Array;
}

/** What is sent unless a test says otherwise: a modern request that is right. */
export const rightHeaders = {
  host: "127.0.0.1:4000",
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
} as const;

class SentRequest implements HttpRequest {
  readonly method: string;
  readonly target: string;
  wasRead = false;
  readonly #headers: ReadonlyMap<string, readonly string[]>;
  readonly #body: Uint8Array | "gone";

  constructor({ method = "POST", target = "/mcp", headers = {}, body = "" }: Sent) {
    this.method = method;
    this.target = target;
    const all = Object.entries({ ...rightHeaders, ...headers });
    this.#headers = new Map(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, [value].flat()]])));
    this.#body = body === "gone" ? body : Buffer.from(body);
  }

  header(name: string): string | undefined {
    return this.#headers.get(name)?.join(", ");
  }

  count(name: string): number {
    return this.#headers.get(name)?.length ?? 0;
  }

  body(maxBytes: number, done: (body: BodyRead) => void): void {
    this.wasRead = true;
    const body = this.#body;
    done(body !== "gone" && body.byteLength > maxBytes ? "too-large" : body);
  }
}

class HeardReply implements HttpReply {
  onGone: (() => void) | undefined;
  isOver = false;
  answered: HttpAnswer | undefined;
  extraHeaders: Readonly<Record<string, string>> | undefined;

  answer(answer: HttpAnswer): void {
    if (this.isOver) return;
    this.isOver = true;
    this.answered = { ...answer, headers: { ...answer.headers, ...this.extraHeaders } };
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    this.answer({ status: 200, headers });
    return { write() {}, isFull: false, onDrain: undefined, end() {}, destroy() {} };
  }
}

/** What became of a request. */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The code of the JSON-RPC error. */
  readonly code: number | undefined;
  readonly id: unknown;
  /** Which leg it came to. */
  readonly leg: string | undefined;
  readonly caller: Caller | undefined;
  readonly wasRead: boolean;
  readonly stages: StageCounts;
}

interface Taken {
  leg?: string;
  caller?: Caller;
}

function createHandlerStub(name: string, taken: Taken) {
  const take = (what: string) => (exchange: HttpExchange, message?: object) => {
    const caller: unknown = message === undefined ? undefined : Reflect.get(message, "caller");
    Object.assign(taken, { leg: `${name} ${what}`, caller: caller ?? exchange.caller });
    exchange.reply.answer({ status: 200, body: "{}" });
  };
  return {
    request: take("post"),
    message: take("post"),
    get: take("get"),
    delete: take("delete"),
  };
}

/** An authenticator that lets in who says `good`, and counts how often it is asked. */
export class PickyAuthenticator implements Authenticator {
  readonly metadataPaths = ["/.well-known/oauth-protected-resource/mcp"];
  asked = 0;

  authenticate(request: HttpRequest): Promise<Caller | HttpAnswer> {
    this.asked += 1;
    const isGood = request.header("authorization") === "Bearer good";
    return Promise.resolve(isGood ? { id: "alice", isAnonymous: false, scopes: [] } : { status: 401 });
  }

  challenge(): string {
    return "Bearer";
  }

  metadata(): HttpAnswer {
    return { status: 200, body: "metadata" };
  }
}

/** An HTTP pipeline whose handlers record their requests. Call `close()` when done. */
export class PipelineHarness {
  readonly #runtime: AppRuntime = createHostileApp().open();
  readonly #deps: Partial<HttpPipelineDeps>;

  constructor(deps: Partial<HttpPipelineDeps> = {}) {
    this.#deps = deps;
  }

  /** Sends one request, to counters of its own. */
  async send(sent: Sent): Promise<Seen> {
    const counters = new StageCounters();
    const taken: Taken = {};
    const bounds = resolveHandlerOptions({});
    const runtime = this.#runtime;
    const { serve } = new HttpPipeline({
      setting: {
        runtime,
        bounds,
        clock: systemClock,
        counters,
        budgets: createBudgets(resolveLimits(), () => {}),
        admission: new Admission(bounds),
        keepAlive: new KeepAlive(systemClock, 0),
        limiter: undefined,
        responder: new Responder({ render: createAnswerRenderer(runtime.info), observers: runtime.observers }),
      },
      hosts: ["localhost", "127.0.0.1", "[::1]"],
      origins: "loopback",
      path: "/mcp",
      modern: createHandlerStub("modern", taken),
      legacy: createHandlerStub("legacy", taken),
      ...this.#deps,
    });
    const request = new SentRequest(sent);
    const reply = new HeardReply();
    serve(request, reply);
    // The front awaits a token and a body, both of which are there.
    for (let turn = 0; turn < 20 && !reply.isOver; turn += 1) await Promise.resolve();
    const { status = 0, headers = {}, body = "" } = reply.answered ?? {};
    const { error, id } = Object(body.startsWith("{") ? JSON.parse(body) : {});
    return {
      status,
      headers,
      body,
      code: Object(error).code,
      id,
      leg: taken.leg,
      caller: taken.caller,
      wasRead: request.wasRead,
      stages: counters.read(),
    };
  }

  async close(): Promise<void> {
    await this.#runtime.close();
  }
}
