import { CallContext } from "../call/call-context.ts";
import type { ClientPort } from "../call/asker.ts";
import { clientKinds } from "../mcp/asking/ask-protocol.ts";
import { PushedAsks, type SendAsk } from "../mcp/asking/pushed-asks.ts";
import { capabilitiesKey, protocolVersionKey } from "../mcp/envelope.ts";
import type { HandledMethod, Handler } from "../mcp/handlers.ts";
import { observeRequest, tellRefused } from "../mcp/observed-request.ts";
import {
  metaOf,
  modernVersions,
  newestLegacyVersion,
  rpcCodes,
  toRpcError,
  unrecorded,
  type Era,
  type RpcAnswer,
  type RpcError,
} from "../mcp/protocol.ts";
import type { ResolvedView } from "../mcp/resolved-view.ts";
import type { AppRuntime } from "../mcp/servable-app.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import type { Observers } from "../observe/observers.ts";
import { ObservedChannel } from "../observe/observed-channel.ts";
import type { Caller } from "../surface/caller.ts";
import type { TestCallOptions } from "./test-client-types.ts";
import type { TestUser } from "./test-user.ts";
import { RpcFailure } from "./rpc-failure.ts";

/** One request of a test. */
export interface TestRequest {
  readonly method: HandledMethod;
  readonly handler: Handler;
  readonly params: JsonObject | undefined;
  readonly caller: Caller;
  readonly view: ResolvedView;
  readonly options: TestCallOptions;
}

/** The result object of an answer. @throws RpcFailure when it is an error. */
function readAnswer(answer: RpcAnswer): JsonObject {
  if (answer.kind === "error") throw new RpcFailure(answer);
  const meta = answer.meta === "" ? "" : `"_meta":{${answer.meta}}`;
  const result: unknown = JSON.parse(`{${[answer.body, meta].filter((part) => part !== "").join(",")}}`);
  return isJsonObject(result) ? result : {};
}

/** The first error that the test's own functions threw while a request ran. */
interface Thrown {
  first?: { readonly cause: unknown };
}

/** The client of a {@link TestSession}. */
interface TestPeer {
  readonly era: Era;
  readonly user: TestUser;
  readonly caller: Caller;
}

/**
 * Sends the requests of a test to the handlers of an app, and has the test's user answer the questions: up to 2025-11-25 those
 * that the server sends meanwhile, from 2026-07-28 on those that the call ends with, by another request.
 */
export class TestSession {
  readonly #era: Era;
  readonly #user: TestUser;
  readonly #asks: PushedAsks;
  readonly #observers: Observers;
  readonly #channel: ObservedChannel;
  #requests = 0;

  constructor({ report, observers }: Pick<AppRuntime, "report" | "observers">, { era, user, caller }: TestPeer) {
    this.#era = era;
    this.#user = user;
    this.#observers = observers;
    this.#channel = new ObservedChannel(observers, "test");
    this.#channel.start(caller, era === "legacy" ? newestLegacyVersion : modernVersions[0]);
    this.#asks = new PushedAsks({ kinds: () => clientKinds(user.capabilities), send: this.#sendFor({}), report });
  }

  /** @throws RpcFailure for an error, and what the test's own functions throw. */
  async request(request: TestRequest): Promise<JsonObject> {
    let params = this.#era === "modern" ? this.#withEnvelope(request.params) : request.params;
    for (;;) {
      const answer = await this.#send({ ...request, params });
      if (answer.kind === "error" || answer.asks !== true || !this.#user.isThere) return readAnswer(answer);
      params = { ...params, ...(await this.#answerAll(readAnswer(answer))) };
    }
  }

  /** The id of the session in records. */
  get id(): string | undefined {
    return this.#channel.session;
  }

  /** Records a request that is refused before it starts. */
  refused(error: RpcError, caller: Caller): void {
    const channel = this.#channel;
    if (this.#observers.all !== undefined) tellRefused(this.#observers, { error, channel, caller });
  }

  /** Ends the questions that are open. Callable twice. */
  close(): void {
    this.#asks.close();
    this.#channel.end("client");
  }

  async #send(request: TestRequest): Promise<RpcAnswer> {
    const { caller, options } = request;
    const { signal, onProgress, onLog } = options;
    const thrown: Thrown = {};
    const call = new CallContext({ sink: onProgress, log: onLog, caller, asking: this.#portFor(thrown) });
    const cancel = (): void => call.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      if (signal?.aborted === true) cancel();
      const answer = await this.#observe(request, call);
      if (thrown.first !== undefined) throw thrown.first.cause;
      return answer;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Runs the handler of a request, and records start and end, as the dispatcher of a connection does. */
  async #observe({ method, handler, params, caller, view }: TestRequest, call: CallContext): Promise<RpcAnswer> {
    const era = this.#era;
    this.#requests += 1;
    const frame = { kind: "request", id: this.#requests, method, params } as const;
    const received = { method: handler, frame, era, version: newestLegacyVersion, caller, view, call };
    const observed = observeRequest(this.#observers, received, this.#channel);
    if (observed === undefined) return handler(params, { era, call, view });
    try {
      const isAdmitted = await observed.admit();
      const answer = isAdmitted ? await observed.run(() => handler(params, { era, call, view })) : unrecorded;
      observed.answered(answer);
      return answer;
    } catch (cause) {
      observed.answered(toRpcError(rpcCodes.internal, "Internal error"));
      throw cause;
    }
  }

  #portFor(thrown: Thrown): ClientPort | undefined {
    return this.#era === "legacy" && this.#user.isThere ? this.#asks.portFor(this.#sendFor(thrown)) : undefined;
  }

  /** Hands a question to the user. A test that fails in its user's function fails the request, and the server gets an error. */
  #sendFor(thrown: Thrown): SendAsk {
    return (json) => {
      // Ours: a question, or the notification that one is given up.
      const question = JSON.parse(json) as JsonObject;
      const { id } = question;
      if (id === undefined) return;
      this.#user.answer(question).then(
        (result) => this.#asks.answer({ kind: "response", id, result }),
        (cause: unknown) => {
          thrown.first ??= { cause };
          this.#asks.answer({ kind: "response", id, error: { code: rpcCodes.internal } });
        },
      );
    };
  }

  /** Answers the questions that a call ended with, one after another, as a person would. */
  async #answerAll({ inputRequests, requestState }: JsonObject): Promise<JsonObject> {
    const inputResponses: JsonObject = {};
    for (const [key, question] of Object.entries(isJsonObject(inputRequests) ? inputRequests : {})) {
      if (isJsonObject(question)) inputResponses[key] = await this.#user.answer(question);
    }
    return { inputResponses, requestState: requestState ?? null };
  }

  /** Returns params as a client from 2026-07-28 sends them. */
  #withEnvelope(params: JsonObject | undefined): JsonObject {
    const capabilities = this.#user.isThere ? { [capabilitiesKey]: this.#user.capabilities } : {};
    return { ...params, _meta: { [protocolVersionKey]: modernVersions[0] ?? "", ...capabilities, ...metaOf(params) } };
  }
}
