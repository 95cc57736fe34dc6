import type { Invoker } from "../call/create-invoker.ts";
import type { PromptOutcome } from "../call/outcome.ts";
import type { Catalog } from "../catalog/create-catalog.ts";
import type { PromptEntry } from "../catalog/entry.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { describePrompt } from "./describe-entries.ts";
import type { Handler } from "./handlers.ts";
import { ownParam } from "./own-param.ts";
import { createPagedList } from "./pages.ts";
import { rpcCodes, toRpcError, toRpcResult, type RpcAnswer } from "./protocol.ts";
import { refusalData, refusalText } from "./render-refusal.ts";
import { toWellFormedJson, writeJson } from "./write-json.ts";

/** The handlers of an app that has prompts. */
export interface PromptHandlers {
  readonly "prompts/list": Handler;
  readonly "prompts/get": Handler;
}

/** What they are made of. */
export interface PromptSource {
  readonly catalog: Catalog;
  readonly invoker: Invoker;
  readonly pageSize: number;
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

function toAnswer({ description }: PromptEntry, outcome: PromptOutcome): RpcAnswer {
  if (outcome.kind === "refused") {
    const code = outcome.code === "VALIDATION_ERROR" ? rpcCodes.invalidParams : rpcCodes.internal;
    return toRpcError(code, refusalText(outcome), refusalData(outcome));
  }
  const words = description === undefined ? "" : `"description":${writeJson(description)},`;
  return toRpcResult(`${words}"messages":${toWellFormedJson(outcome.text)}`);
}

/** Makes the handlers of prompts; none where there are no prompts. */
export function createPromptHandlers({ catalog, invoker, pageSize }: PromptSource): Partial<PromptHandlers> {
  if (catalog.prompts.length === 0) return {};
  const list = createPagedList({ key: "prompts", items: catalog.prompts.map(describePrompt), pageSize });
  return {
    "prompts/list": (params) => list.page(params),
    "prompts/get": async (params, request) => {
      const name = ownParam(params, "name");
      const given = ownParam(params, "arguments");
      const args = given === undefined ? noArguments : given;
      if (typeof name !== "string" || !isTexts(args)) return badParams;
      const prompt = catalog.prompt(name);
      if (prompt === undefined) return unknownPrompt;
      return toAnswer(prompt, await invoker.prompt(prompt, args, request.call));
    },
  };
}
