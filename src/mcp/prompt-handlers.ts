import type { Invoker, PromptOutcome } from "../call/create-invoker.ts";
import { createErrorResult, type ErrorResult } from "../catalog/outcome.ts";
import type { PromptEntry } from "../catalog/entry.ts";
import { SurfaceError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import type { AskingRequest, InputRequired } from "./asking/input-required.ts";
import type { Handler } from "./handlers.ts";
import type { LargeValues } from "./large-values.ts";
import {
  bytesOver,
  ownParam,
  rpcCodes,
  toDeniedError,
  toRpcError,
  toRpcResult,
  toUnknownError,
  toWellFormedJson,
  writeJson,
  type RpcAnswer,
} from "./protocol.ts";
import { refusalData, refusalText, withMeta } from "./render-result.ts";
import type { ViewResolver } from "./view-resolver.ts";

/** Dependencies of {@link createPromptHandler}. */
export interface PromptDeps {
  readonly invoker: Invoker;
  /** Sends questions to clients from 2026-07-28. */
  readonly asking: InputRequired;
  readonly resolver: Pick<ViewResolver, "shownTo">;
  /** Bounds the size of an answer. */
  readonly large: Pick<LargeValues, "maxResultBytes">;
  /** Receives the error if messages are too large. */
  readonly report: FaultReporter;
}

const noArguments: JsonObject = Object.freeze({});

/** The answer for a prompt that does not exist, or that this caller cannot see: one text for both. */
const unknownPrompt = toUnknownError("Invalid params: there is no such prompt");

const badParams = toRpcError(
  rpcCodes.invalidParams,
  'Invalid params: "name" must be a string and "arguments" an object of strings',
);

function isTexts(value: unknown): value is JsonObject {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === "string");
}

function toRefusedAnswer(refused: ErrorResult): RpcAnswer {
  const code = refused.code === "VALIDATION_ERROR" ? rpcCodes.invalidParams : rpcCodes.internal;
  return toRpcError(code, refusalText(refused), refusalData(refused));
}

/** The answer for messages that are too large: part of them would ask for something else. The author gets a report. */
function toTooLarge({ origin }: PromptEntry, bytes: number, { large, report }: PromptDeps): RpcAnswer {
  const cause = new SurfaceError(
    "INVALID_OUTPUT",
    `Answering for ${origin}: its messages are ${bytes} bytes and must be at most ${large.maxResultBytes}`,
  );
  const { correlationId } = internalError(cause, origin, report);
  const message = `the messages are ${bytes} bytes, which is more than one answer may hold; it is logged under ${correlationId}`;
  const details = { bytes };
  return toRefusedAnswer(createErrorResult("RESULT_TOO_LARGE", message, { details, correlationId }));
}

/** A request for a prompt, and its outcome. */
interface Prompted {
  readonly asking: AskingRequest;
  readonly prompt: PromptEntry;
  readonly outcome: PromptOutcome;
}

function toAnswer({ asking, prompt, outcome }: Prompted, deps: PromptDeps): RpcAnswer {
  if (outcome.kind === "denied") return toDeniedError(outcome.scopes, unknownPrompt);
  if (outcome.kind === "refused") return deps.asking.refuse(outcome, asking) ?? toRefusedAnswer(outcome);
  if (outcome.kind === "asking") return deps.asking.ask(outcome, asking);
  const messages = toWellFormedJson(outcome.text);
  const bytes = bytesOver(messages, deps.large.maxResultBytes);
  if (bytes !== undefined) return toTooLarge(prompt, bytes, deps);
  const { description } = prompt;
  const words = description === undefined ? "" : `"description":${writeJson(description)},`;
  return toRpcResult(`${words}"messages":${messages}`);
}

/** Creates the handler of `prompts/get`. */
export function createPromptHandler(deps: PromptDeps): Handler {
  return async (params, request) => {
    const name = ownParam(params, "name");
    const given = ownParam(params, "arguments");
    const args = given === undefined ? noArguments : given;
    if (typeof name !== "string" || !isTexts(args)) return badParams;
    const { call, view } = request;
    call.reached("gate");
    const prompt = view.catalog.prompt(name);
    if (prompt === undefined) return unknownPrompt;
    const asking = { params, request, method: "prompts/get", target: name };
    const stillShown = (): boolean => deps.resolver.shownTo(call.caller)?.catalog.prompt(name) === prompt;
    call.stillShown = stillShown;
    const begun = request.era === "legacy" ? undefined : deps.asking.begin(asking);
    const refused = await begun;
    if (refused !== undefined) return refused;
    if (begun instanceof Promise && !stillShown()) return unknownPrompt;
    const outcome = await deps.invoker.prompt(prompt, args, call);
    const answer = toAnswer({ asking, prompt, outcome }, deps);
    return call.meta === undefined ? answer : withMeta(answer, call.meta);
  };
}
