import type { Invoker } from "../call/create-invoker.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Completer, EntryGuard, Filled, PromptEntry, TemplateEntry } from "../catalog/entry.ts";
import { isProposal, maxCountedProposals, toSchemaCompleter } from "../catalog/custom/completers.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import type { Handler } from "./handlers.ts";
import {
  ownParam,
  rpcCodes,
  toDeniedError,
  toRpcError,
  toRpcResult,
  toUnknownError,
  writeJson,
  type RpcAnswer,
} from "./protocol.ts";

/** As many as one answer may hold. */
const maxValues = 100;

const noArguments: JsonObject = Object.freeze({});

const badParams = toRpcError(
  rpcCodes.invalidParams,
  'Invalid params: "ref" must be a prompt or resource reference, "argument" a name and a value',
);

/** The answer for a reference to what does not exist, or what this caller cannot see: one text for both. */
const unknownRef = toUnknownError("Invalid params: there is nothing of this reference");

/** The longest text that was filled in and is handed on; in UTF-16 units. */
const maxFilledLength = 8192;

/** Completers of one prompt or template by argument; `undefined` for an argument without proposals. */
type Completers = ReadonlyMap<string, Completer | undefined>;

/** Dependencies of {@link createCompleteHandler}. */
export interface CompleteSource {
  /** The entries at boot: without completers among them there is no handler. */
  readonly catalog: Catalog;
  readonly invoker: Invoker;
}

/** A prompt, resource or template that a request refers to. */
interface Target {
  readonly guard: EntryGuard;
  readonly completers: Completers;
}

/** The params of a request. */
interface CompleteParams {
  readonly type: "ref/prompt" | "ref/resource";
  /** The name of the prompt, or the URI. */
  readonly key: string;
  readonly name: string;
  readonly value: string;
  /** The arguments that were filled in before. */
  readonly given: JsonObject;
}

function completersOfPrompt(prompt: PromptEntry): Completers {
  return new Map(prompt.arguments.map(({ name, complete }) => [name, complete]));
}

function completersOfTemplate({ variables }: TemplateEntry): Completers {
  return new Map(variables.map(({ name, json, complete }) => [name, complete ?? toSchemaCompleter(json)]));
}

function hasProposals({ prompts, templates }: Catalog): boolean {
  const all = [...prompts.map(completersOfPrompt), ...templates.map(completersOfTemplate)];
  return all.some((completers) => [...completers.values()].some((complete) => complete !== undefined));
}

function findTarget(catalog: Catalog, { type, key }: CompleteParams): Target | undefined {
  if (type === "ref/prompt") {
    const prompt = catalog.prompt(key);
    return prompt && { guard: prompt, completers: completersOfPrompt(prompt) };
  }
  const template = catalog.templates.find(({ uriTemplate }) => uriTemplate === key);
  if (template !== undefined) return { guard: template, completers: completersOfTemplate(template) };
  // A resource has no variables, but it exists.
  const resource = catalog.resources.find(({ uri }) => uri === key);
  return resource && { guard: resource, completers: new Map() };
}

/** Reads the params of a request; `undefined` if they do not fit. */
function readParams(params: JsonObject | undefined): CompleteParams | undefined {
  const ref = ownParam(params, "ref");
  const argument = ownParam(params, "argument");
  const given = readContext(params);
  if (!isJsonObject(ref) || !isJsonObject(argument) || given === undefined) return undefined;
  const { type } = ref;
  if (type !== "ref/prompt" && type !== "ref/resource") return undefined;
  const key = ownParam(ref, type === "ref/prompt" ? "name" : "uri");
  const name = ownParam(argument, "name");
  const value = ownParam(argument, "value");
  if (typeof name !== "string" || typeof value !== "string" || typeof key !== "string") return undefined;
  return { type, key, name, value, given };
}

/** Returns the arguments that were filled in before; `undefined` if they do not fit. */
function readContext(params: JsonObject | undefined): JsonObject | undefined {
  const context = ownParam(params, "context") ?? noArguments;
  if (ownParam(params, "context") === null || !isJsonObject(context)) return undefined;
  const given = Object.hasOwn(context, "arguments") ? context["arguments"] : noArguments;
  return isJsonObject(given) && Object.values(given).every((each) => typeof each === "string") ? given : undefined;
}

/** Returns the filled arguments that the target has, as an object that inherits nothing: handlers look names up in it. */
function toFilled(given: JsonObject, completers: Completers): Filled {
  // Without a prototype it has no keys yet.
  const filled = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(given)) {
    if (!completers.has(name) || typeof value !== "string" || value.length > maxFilledLength) continue;
    filled[name] = value;
  }
  return Object.freeze(filled);
}

/** Returns the values that begin as the user typed, each once, and their number if all were counted. */
function toCompletion(values: readonly unknown[], begun: string): RpcAnswer {
  const start = begun.toLowerCase();
  const isFit = (value: unknown): boolean => typeof value === "string" && isProposal(value, start);
  const fitting = [...new Set(values.filter(isFit))];
  const completion = {
    values: fitting.slice(0, maxValues),
    ...(fitting.length > maxCountedProposals ? {} : { total: fitting.length }),
    hasMore: fitting.length > maxValues,
  };
  return toRpcResult(`"completion":${writeJson(completion)}`);
}

/**
 * Creates the handler of `completion/complete`; `undefined` if the app has no proposals. A completer that fails, or that is too
 * late, proposes nothing, so that the user can go on typing.
 */
export function createCompleteHandler({ catalog, invoker }: CompleteSource): Handler | undefined {
  if (!hasProposals(catalog)) return undefined;
  return async (params, { call, view }) => {
    const asked = readParams(params);
    if (asked === undefined) return badParams;
    call.reached("gate");
    const target = findTarget(view.catalog, asked);
    if (target === undefined) return unknownRef;
    const { type, key, name, value, given } = asked;
    const { guard, completers } = target;
    const outcome = await invoker.complete(
      {
        where: `completing "${name}" of ${type === "ref/prompt" ? "prompt" : "resource"} "${key}"`,
        scopes: guard.scopes,
        requires: guard.requires,
        complete: completers.get(name),
        begun: value,
        filled: toFilled(given, completers),
      },
      call,
    );
    if (outcome.kind === "denied") return toDeniedError(outcome.scopes, unknownRef);
    // What its author returned may be no list at all.
    const values: unknown = outcome.kind === "values" ? outcome.values : [];
    return toCompletion(Array.isArray(values) ? values : [], value);
  };
}
