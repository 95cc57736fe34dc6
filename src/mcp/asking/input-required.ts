import type { AskPort } from "../../call/ask-port.ts";
import type { PromptOutcome, ReadOutcome } from "../../call/outcome.ts";
import type { AskKind, Asking } from "../../catalog/asking.ts";
import type { ToolOutcome } from "../../catalog/outcome.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { capabilitiesOf } from "../envelope.ts";
import { ownParam } from "../own-param.ts";
import { rpcCodes, toRpcError, toRpcResult, type McpRequest, type RpcAnswer, type RpcError } from "../protocol.ts";
import { writeJson } from "../write-json.ts";
import { toAskRequest } from "./ask-method.ts";
import type { AskStates, AskSubject, OpenedState } from "./ask-states.ts";
import { clientKinds } from "./client-kinds.ts";

type Outcome = ToolOutcome | PromptOutcome | ReadOutcome;

/** A request that may ask its client something, before it runs. */
export interface AskingRequest extends Omit<AskSubject, "caller"> {
  readonly params: JsonObject | undefined;
  readonly request: McpRequest;
  /** Its arguments as they came, in JSON: whatever runs is given them, and may change them. Said by {@link InputRequired.begin}. */
  came?: string | undefined;
}

/** The answer for a state that is forged, used, expired, or another request's: one text, so that none of these can be told apart. */
const unusableState = toRpcError(
  rpcCodes.invalidParams,
  'Invalid params: "requestState" is expired, already used, or belongs to another request; retry without it',
);

const badResponses = toRpcError(rpcCodes.invalidParams, 'Invalid params: "inputResponses" must be an object');

/** How the client of one modern request is asked: by the answer to it. */
class AnsweringPort implements AskPort {
  readonly resumed: AskPort["resumed"];
  /** Why its request is no request, where it turned out to go on from what was used. */
  refusal: RpcError | undefined;
  readonly #params: JsonObject | undefined;
  #kinds: ReadonlySet<AskKind> | undefined;

  constructor(params: JsonObject | undefined, resumed?: AskPort["resumed"]) {
    this.#params = params;
    this.resumed = resumed;
  }

  /** Read from the envelope when it is asked for: most calls ask nothing. */
  get kinds(): ReadonlySet<AskKind> {
    this.#kinds ??= clientKinds(capabilitiesOf(this.#params));
    return this.#kinds;
  }
}

/** Whether it is an answer itself, and not a request or a response around one. */
function isAnswer(value: unknown): value is JsonObject {
  return isJsonObject(value) && !Object.hasOwn(value, "method") && !Object.hasOwn(value, "result");
}

/** What a client has answered of what it was asked last; what is no answer is none, and is asked again. */
function answersOf(params: JsonObject | undefined, { open }: OpenedState): Readonly<Record<string, JsonObject>> {
  const given = ownParam(params, "inputResponses");
  // Anything but an object was refused before.
  if (!isJsonObject(given)) return {};
  // Looked up by what was asked, so that it does not matter how many others there are.
  const answers = open.map((key) => [key, ownParam(given, key)] as const);
  return Object.fromEntries(answers.filter((entry): entry is readonly [string, JsonObject] => isAnswer(entry[1])));
}

/** Asks clients of the modern era by the answers to what they ask, and reads what they say to that when they ask again. */
export class InputRequired {
  readonly #states: AskStates;
  readonly #report: FaultReporter;

  constructor(states: AskStates, report: FaultReporter) {
    this.#states = states;
    this.#report = report;
  }

  /**
   * Says how the client of a request is asked, before anything runs for it. Returns why nothing may run, where what it says that
   * it has come to before is not so.
   */
  begin(asking: AskingRequest): RpcError | undefined {
    const { params, request } = asking;
    if (request.era !== "modern") return undefined;
    const responses = ownParam(params, "inputResponses");
    if (responses !== undefined && !isJsonObject(responses)) return badResponses;
    const sealed = ownParam(params, "requestState");
    const port = sealed === undefined ? new AnsweringPort(params) : this.#resume(asking, sealed);
    if (port === undefined) return unusableState;
    request.call.asking = port;
    // Where nothing can be asked, nothing is sealed.
    if (port.kinds.size > 0) asking.came = JSON.stringify(asking.args);
    return undefined;
  }

  /**
   * What a modern client is answered that has to be asked something first, or cannot be asked what this takes; `undefined` for
   * every other outcome.
   */
  answer(outcome: Outcome, asking: AskingRequest): RpcAnswer | undefined {
    const { era, call } = asking.request;
    if (era !== "modern") return undefined;
    if (call.asking instanceof AnsweringPort && call.asking.refusal !== undefined) return call.asking.refusal;
    if (outcome.kind === "asking") return this.#ask(outcome, asking);
    if (outcome.kind !== "refused" || outcome.requiredCapabilities === undefined) return undefined;
    const { message, requiredCapabilities } = outcome;
    return toRpcError(rpcCodes.missingCapability, message, { requiredCapabilities });
  }

  #ask(outcome: Asking, { request: { call }, method, target, came = "{}" }: AskingRequest): RpcAnswer {
    // Written by begin(), of an object.
    const args = JSON.parse(came) as JsonObject;
    const asked = Object.entries(outcome.open).map(([key, ask]) => [key, toAskRequest(ask)] as const);
    const state = this.#states.seal(outcome, { caller: call.caller, method, target, args });
    const body = `"inputRequests":${writeJson(Object.fromEntries(asked))},"requestState":${JSON.stringify(state)}`;
    return toRpcResult(body, { asks: true });
  }

  #resume(
    { params, request: { call }, method, target, args }: AskingRequest,
    sealed: unknown,
  ): AnsweringPort | undefined {
    if (typeof sealed !== "string") return undefined;
    const opened = this.#states.open(sealed, { caller: call.caller, method, target, args });
    if (opened === undefined) return undefined;
    const answers = answersOf(params, opened);
    const claim = (): Promise<boolean> => this.#claim(opened, port);
    const port: AnsweringPort = new AnsweringPort(params, { record: opened.record, answers, claim });
    return port;
  }

  /** Never rejects: what becomes of the request is said by its port. */
  async #claim({ claim }: OpenedState, port: AnsweringPort): Promise<boolean> {
    try {
      const claimed: unknown = await claim();
      // Whatever is not exactly true is no permission.
      if (claimed === true) return true;
      port.refusal = unusableState;
    } catch (cause) {
      const { correlationId } = internalError(cause, "claiming a state", this.#report);
      port.refusal = toRpcError(rpcCodes.internal, "Internal error", { correlationId });
    }
    return false;
  }
}
