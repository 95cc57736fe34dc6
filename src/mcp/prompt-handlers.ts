import type { Invoker } from "../call/create-invoker.ts";
import type { Refused } from "../catalog/outcome.ts";
import type { PromptOutcome } from "../call/outcome.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { PromptEntry } from "../catalog/entry.ts";
import { SurfaceError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import type { InputRequired } from "./asking/input-required.ts";
import type { Faces } from "./faces.ts";
import type { Handler } from "./handlers.ts";
import { bytesOver, type LargeValues } from "./large-values.ts";
import { ownParam } from "./own-param.ts";
import { rpcCodes, toRpcError, toRpcResult, toDeniedError, type RpcAnswer } from "./protocol.ts";
import { refusalData, refusalText } from "./render-refusal.ts";
import { withMeta } from "./with-meta.ts";
import { toWellFormedJson, writeJson } from "./write-json.ts";

/** The handlers of an app that has prompts. */
export interface PromptHandlers {
  readonly "prompts/list": Handler;
  readonly "prompts/get": Handler;
}

/** What they are made of. */
export interface PromptSource {
  /** Everything that there is when they are made. */
  readonly catalog: Catalog;
  /** What callers are shown of it. */
  readonly faces: Pick<Faces, "of">;
  readonly invoker: Invoker;
  /** Asks clients of the modern era. */
  readonly asking: InputRequired;
  /** How large one answer may be. */
  readonly large: Pick<LargeValues, "maxResultBytes">;
  /** Told of prompts that are larger. */
  readonly report: FaultReporter;
}

const noArguments: JsonObject = Object.freeze({});

/** The answer for a prompt that does not exist, or that this caller cannot see: one text for both. */
const unknownPrompt = toRpcError(rpcCodes.invalidParams, "Invalid params: there is no such prompt");

const badParams = toRpcError(
  rpcCodes.invalidParams,
  'Invalid params: "name" must be a string and "arguments" an object of strings',
);

function isTexts(value: unknown): value is JsonObject {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === "string");
}

function toRefusedAnswer(refused: Refused): RpcAnswer {
  const code = refused.code === "VALIDATION_ERROR" ? rpcCodes.invalidParams : rpcCodes.internal;
  return toRpcError(code, refusalText(refused), refusalData(refused));
}

/** The answer for messages that are too large: part of them would ask for something else. Their author is told. */
function toTooLarge({ origin }: PromptEntry, bytes: number, { large, report }: PromptSource): RpcAnswer {
  const cause = new SurfaceError(
    "INVALID_OUTPUT",
    `Answering for ${origin}: its messages are ${bytes} bytes and must be at most ${large.maxResultBytes}`,
  );
  const { correlationId } = internalError(cause, origin, report);
  const message = `the messages are ${bytes} bytes, which is more than one answer may hold; it is logged under ${correlationId}`;
  const details = { bytes };
  return toRefusedAnswer({ kind: "refused", code: "RESULT_TOO_LARGE", message, issues: [], details, correlationId });
}

function toAnswer(prompt: PromptEntry, outcome: PromptOutcome, source: PromptSource): RpcAnswer {
  if (outcome.kind === "denied") return toDeniedError(outcome.scopes, unknownPrompt);
  if (outcome.kind === "refused") return toRefusedAnswer(outcome);
  // Of the modern era only, where its client was asked before.
  if (outcome.kind === "asking") return toRpcError(rpcCodes.internal, "Internal error");
  const messages = toWellFormedJson(outcome.text);
  const bytes = bytesOver(messages, source.large.maxResultBytes);
  if (bytes !== undefined) return toTooLarge(prompt, bytes, source);
  const { description } = prompt;
  const words = description === undefined ? "" : `"description":${writeJson(description)},`;
  return toRpcResult(`${words}"messages":${messages}`);
}

/**
 * Makes the handlers of prompts; none where there are no prompts.
 *
 * @param list - the handler of their list.
 */
export function createPromptHandlers(source: PromptSource, list: Handler): Partial<PromptHandlers> {
  const { catalog, faces, invoker, asking } = source;
  if (catalog.prompts.length === 0) return {};
  return {
    "prompts/list": list,
    "prompts/get": async (params, request) => {
      const name = ownParam(params, "name");
      const given = ownParam(params, "arguments");
      const args = given === undefined ? noArguments : given;
      if (typeof name !== "string" || !isTexts(args)) return badParams;
      request.call.reached("gate");
      const face = faces.of(request.call.caller);
      if ("kind" in face) return face;
      const prompt = face.catalog.prompt(name);
      if (prompt === undefined) return unknownPrompt;
      const asked = { params, request, method: "prompts/get", target: name, args };
      const refused = asking.begin(asked);
      if (refused !== undefined) return refused;
      const outcome = await invoker.prompt(prompt, args, request.call);
      return withMeta(asking.answer(outcome, asked) ?? toAnswer(prompt, outcome, source), request.call.meta);
    },
  };
}
