import type { ClientPort } from "../../call/asker.ts";
import type { AskKind, Asking } from "../../catalog/asking/asking.ts";
import type { ErrorResult } from "../../catalog/outcome.ts";
import { SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { FaultReporter } from "../../surface/fault.ts";
import { capabilitiesOf } from "../envelope.ts";
import {
  ownParam,
  toInternalAnswer,
  rpcCodes,
  toRpcError,
  toRpcResult,
  writeJson,
  type McpRequest,
  type RpcAnswer,
  type RpcError,
} from "../protocol.ts";
import { clientKinds, toAskRequest } from "./ask-protocol.ts";
import type { AskStates, AskSubject, OpenedState } from "./ask-states.ts";

/** A request whose handler may ask its client. */
export interface AskingRequest extends Pick<AskSubject, "method" | "target"> {
  readonly params: JsonObject | undefined;
  readonly request: McpRequest;
}

/** The answer for a state that is forged, used, expired, or another request's: one text, so that none of these can be told apart. */
const unusableState = toRpcError(
  rpcCodes.invalidParams,
  'Invalid params: "requestState" is expired, already used, or belongs to another request; retry without it',
);

const unclaimable = toRpcError(
  rpcCodes.busy,
  "Server busy: whether this answer was used before cannot be checked at present; send it again later",
);

const badResponses = toRpcError(rpcCodes.invalidParams, 'Invalid params: "inputResponses" must be an object');

const unanswerable = toRpcError(rpcCodes.internal, "Internal error");

/** Asks the client of one request by its answer. */
class AnsweringPort implements ClientPort {
  readonly resumed: ClientPort["resumed"];
  readonly #params: JsonObject | undefined;
  #kinds: ReadonlySet<AskKind> | undefined;

  constructor(params: JsonObject | undefined, resumed?: ClientPort["resumed"]) {
    this.#params = params;
    this.resumed = resumed;
  }

  /** Read from the envelope on first use: most calls ask nothing. */
  get kinds(): ReadonlySet<AskKind> {
    this.#kinds ??= clientKinds(capabilitiesOf(this.#params));
    return this.#kinds;
  }
}

/** Returns whether a value is an answer, and no request or response around one. */
function isAnswer(value: unknown): value is JsonObject {
  return isJsonObject(value) && !Object.hasOwn(value, "method") && !Object.hasOwn(value, "result");
}

/** Returns the answers to the open questions. A question without a valid answer is asked again. */
function answersOf(given: JsonObject = {}, { open }: OpenedState): Readonly<Record<string, JsonObject>> {
  // Looked up by the open questions, however many other answers there are.
  const answers = open.map((key) => [key, ownParam(given, key)] as const);
  return Object.fromEntries(answers.filter((entry): entry is readonly [string, JsonObject] => isAnswer(entry[1])));
}

/** Reads the params of a request again: its handler may have changed them. */
function paramsAsCame({ params, request: { text } }: AskingRequest): unknown {
  // A text that was read as a request before.
  return text === undefined ? params : ownParam(JSON.parse(text) as JsonObject, "params");
}

function toSubject({ request: { call }, method, target }: AskingRequest, params: unknown): AskSubject {
  const args = isJsonObject(params) ? ownParam(params, "arguments") : undefined;
  return { caller: call.caller, method, target, args: isJsonObject(args) ? args : {} };
}

/** Asks clients from 2026-07-28 on: by the answer to their request, whose retry brings the answers. */
export class InputRequired {
  readonly #states: AskStates;
  readonly #report: FaultReporter;

  constructor(states: AskStates, report: FaultReporter) {
    this.#states = states;
    this.#report = report;
  }

  /**
   * Gives a call from 2026-07-28 its port before anything runs. Returns an error for a retry without a usable state, which it marks
   * as used.
   */
  begin(asking: AskingRequest): RpcError | undefined | Promise<RpcError | undefined> {
    const { params, request } = asking;
    const responses = ownParam(params, "inputResponses");
    if (responses !== undefined && !isJsonObject(responses)) return badResponses;
    const sealed = ownParam(params, "requestState");
    if (sealed === undefined) {
      request.call.asking = new AnsweringPort(params);
      return undefined;
    }
    const opened = typeof sealed === "string" ? this.#states.open(sealed, toSubject(asking, params)) : undefined;
    if (opened === undefined) return unusableState;
    request.call.asking = new AnsweringPort(params, { record: opened.record, answers: answersOf(responses, opened) });
    return this.#claim(opened);
  }

  /** Returns the answer to a request whose client cannot be asked; `undefined` for any other refusal. */
  refuse({ message, requiredCapabilities }: ErrorResult, { request }: AskingRequest): RpcError | undefined {
    if (request.era !== "modern" || requiredCapabilities === undefined) return undefined;
    return toRpcError(rpcCodes.missingCapability, message, { requiredCapabilities });
  }

  /** Returns the answer that asks the client. Earlier clients are asked while the call runs. */
  ask(outcome: Asking, asking: AskingRequest): RpcAnswer {
    if (asking.request.era !== "modern") return unanswerable;
    const asked = Object.entries(outcome.open).map(([key, ask]) => [key, toAskRequest(ask)] as const);
    const state = this.#states.seal(outcome, toSubject(asking, paramsAsCame(asking)));
    const body = `"inputRequests":${writeJson(Object.fromEntries(asked))},"requestState":${JSON.stringify(state)}`;
    return toRpcResult(body, { asks: true });
  }

  async #claim({ claim }: OpenedState): Promise<RpcError | undefined> {
    try {
      // An author's function may return anything.
      return (await claim()) === true ? undefined : unusableState;
    } catch (cause) {
      if (cause instanceof SurfaceError && cause.code === "UNAVAILABLE") return unclaimable;
      return toInternalAnswer(cause, "claiming a state", this.#report);
    }
  }
}
