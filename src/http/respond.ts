import {
  closing,
  duplicateId,
  rpcCodes,
  toRpcError,
  type AnswerRenderer,
  type Era,
  type RequestId,
  type RpcAnswer,
  type RpcError,
} from "../mcp/protocol.ts";
import { tellRefused } from "../mcp/observed-request.ts";
import type { RefusalStage } from "../observe/observation.ts";
import type { Observers } from "../observe/observers.ts";
import type { Caller } from "../surface/caller.ts";
import type { HttpReply, HttpRequest } from "./message.ts";

type Headers = Readonly<Record<string, string>>;

/** Headers of JSON that no cache may keep. */
export const jsonHeaders: Headers = Object.freeze({ "content-type": "application/json", "cache-control": "no-store" });

/** Status, headers and id of an answer in one piece. */
export interface AnswerOptions {
  /** @default null, for a request that could not be read */
  readonly id?: RequestId | null;
  /** @default "legacy" */
  readonly era?: Era;
  /** @default the status of the answer */
  readonly status?: number;
  readonly headers?: Headers;
}

/** The error and the status with which a request is refused. */
export interface HttpRefusal extends AnswerOptions {
  readonly status: number;
  readonly error: RpcError;
}

/** Refusals with a status of their own. A client must not take a duplicate id for the answer to the first request. */
const statuses: ReadonlyMap<RpcAnswer, number> = new Map([
  [duplicateId, 400],
  [closing, 503],
]);

/** Errors with a status of their own in the modern era. */
const modernStatuses: ReadonlyMap<number, number> = new Map([
  [rpcCodes.methodNotFound, 404],
  [rpcCodes.missingCapability, 400],
]);

/** Returns the status of an answer. The error of a method that ran is no error of the transport. */
function statusOf(answer: RpcAnswer, era: Era): number {
  if (answer.kind === "result") return 200;
  if (answer.scopes !== undefined) return 403;
  const status = statuses.get(answer);
  if (status !== undefined) return status;
  if (answer.code === rpcCodes.busy) return 429;
  return (era === "modern" ? modernStatuses.get(answer.code) : undefined) ?? 200;
}

/** Creates the refusal of a request that is not valid HTTP for this protocol. */
export function refuseRequest(status: number, message: string, headers: Headers = {}): HttpRefusal {
  return Object.freeze({ status, headers, error: toRpcError(rpcCodes.invalidRequest, `Invalid request: ${message}`) });
}

/** Creates the refusal of headers that do not agree with the body. */
export function refuseHeader(message: string): HttpRefusal {
  return Object.freeze({ status: 400, error: toRpcError(rpcCodes.headerMismatch, `Header mismatch: ${message}`) });
}

/** A request that is refused before it reaches the dispatcher. */
export interface RefusedExchange {
  readonly request: HttpRequest;
  readonly reply: HttpReply;
  /** @default not known yet */
  readonly caller?: Caller;
}

/** Options of a refusal. */
export interface RefuseOptions extends AnswerOptions {
  /** The stage that records name. @default the stage that the error stands for */
  readonly stage?: RefusalStage;
}

/** Dependencies of a {@link Responder}. */
export interface ResponderDeps {
  readonly render: AnswerRenderer;
  /** Returns `WWW-Authenticate` for missing scopes. @default none, without `auth` */
  readonly challenge?: ((scopes: readonly string[]) => string) | undefined;
  readonly observers: Observers;
  /** Reads the address of a client, for records. @default the address of the connection */
  readonly addressOf?: ((request: HttpRequest) => string | undefined) | undefined;
}

const channel = Object.freeze({ transport: "http", session: undefined });

/** Answers with JSON in one piece. */
export class Responder {
  /** Writes an answer as the text of one message. */
  readonly render: AnswerRenderer;
  readonly #deps: ResponderDeps;

  constructor(deps: ResponderDeps) {
    this.render = deps.render;
    this.#deps = deps;
  }

  /** Refuses a request before it reaches the dispatcher, and records that. */
  refuse(exchange: RefusedExchange, error: RpcError, { stage, ...options }: RefuseOptions): void {
    const { status = statusOf(error, options.era ?? "legacy") } = options;
    this.refused(exchange, { error, status, stage });
    this.answer(exchange.reply, error, options);
  }

  /** Records the refusal of a request, if there are observers. */
  refused(
    { request, caller }: RefusedExchange,
    refusal: { readonly error?: RpcError; readonly status: number; readonly stage?: RefusalStage | undefined },
  ): void {
    const { observers, addressOf } = this.#deps;
    if (observers.all === undefined) return;
    const address = addressOf === undefined ? request.address : addressOf(request);
    tellRefused(observers, { ...refusal, channel, caller, address });
  }

  /** Sends the answer of a handler, or the error of a refusal. */
  answer(reply: HttpReply, answer: RpcAnswer, { id = null, era = "legacy", status, headers }: AnswerOptions): void {
    reply.answer({
      status: status ?? statusOf(answer, era),
      headers: this.#headersOf(answer, headers),
      body: this.render(id, answer, era),
    });
  }

  #headersOf(answer: RpcAnswer, headers?: Headers): Headers {
    if (answer.kind === "result") return headers === undefined ? jsonHeaders : { ...jsonHeaders, ...headers };
    return { ...jsonHeaders, ...this.#hints(answer), ...headers };
  }

  #hints({ code, scopes }: RpcError): Headers {
    if (code === rpcCodes.busy) return { "retry-after": "1" };
    const value = scopes === undefined ? undefined : this.#deps.challenge?.(scopes);
    return value === undefined ? {} : { "www-authenticate": value };
  }
}
