import type { Invoker } from "../call/create-invoker.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Completer, EntryGuard, Filled, PromptEntry, TemplateEntry } from "../catalog/entry.ts";
import { isProposal, maxCountedProposals } from "../catalog/proposals.ts";
import { toSchemaCompleter } from "../catalog/schema-completer.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import type { Handler } from "./handlers.ts";
import { ownParam, rpcCodes, toDeniedError, toRpcError, toRpcResult, writeJson, type RpcAnswer } from "./protocol.ts";

/** As many as one answer may hold. */
const maxValues = 100;

const noArguments: JsonObject = Object.freeze({});

const badParams = toRpcError(
  rpcCodes.invalidParams,
  'Invalid params: "ref" must be a prompt or resource reference, "argument" a name and a value',
);

/** The answer for a reference to what does not exist, or what this caller cannot see: one text for both. */
const unknownRef = toRpcError(rpcCodes.invalidParams, "Invalid params: there is nothing of this reference");

/** The longest text that was filled in and is handed on; in UTF-16 units. */
const maxFilledLength = 8192;

/** What proposes values for the arguments of one prompt or template, by their names; nothing for those nobody knows. */
type Completers = ReadonlyMap<string, Completer | undefined>;

/** What completion is made of. */
export interface CompleteSource {
  /** Everything that there is when it is made. */
  readonly catalog: Catalog;
  readonly invoker: Invoker;
}

/** What can be referred to, and what it takes. */
interface Target extends EntryGuard {
  readonly completers: Completers;
}

/** What a request asks to have completed. */
interface Begun {
  /** `undefined` where there is no such prompt or resource. */
  readonly target: Target | undefined;
  readonly where: string;
  readonly name: string;
  readonly value: string;
  readonly filled: Filled;
}

/** What a reference names. */
interface Found {
  /** `undefined` where there is no such prompt or resource. */
  readonly target: Target | undefined;
  readonly of: string;
}

function ofPrompt({ scopes, requires, arguments: all }: PromptEntry): Target {
  return { scopes, requires, completers: new Map(all.map(({ name, complete }) => [name, complete])) };
}

function ofTemplate({ scopes, requires, variables }: TemplateEntry): Target {
  const completers = variables.map(({ name, json, complete }) => [name, complete ?? toSchemaCompleter(json)] as const);
  return { scopes, requires, completers: new Map(completers) };
}

function isMute({ completers }: Target): boolean {
  return [...completers.values()].every((complete) => complete === undefined);
}

/** Everything that can be referred to, with what proposes values for it. */
class References {
  readonly #prompts: ReadonlyMap<string, Target>;
  readonly #uris: ReadonlyMap<string, Target>;

  constructor({ prompts, resources, templates }: Catalog) {
    this.#prompts = new Map(prompts.map((prompt) => [prompt.name, ofPrompt(prompt)]));
    this.#uris = new Map([
      // It has no variables; but it exists.
      ...resources.map(({ uri, scopes, requires }) => [uri, { scopes, requires, completers: new Map() }] as const),
      ...templates.map((template) => [template.uriTemplate, ofTemplate(template)] as const),
    ]);
  }

  /** Whether there is anything to propose. */
  get isEmpty(): boolean {
    return [...this.#prompts.values(), ...this.#uris.values()].every(isMute);
  }

  /** Reads what a request asks for; `undefined` where its params are of no use. */
  read(params: JsonObject | undefined): Begun | undefined {
    const ref = ownParam(params, "ref");
    const argument = ownParam(params, "argument");
    const given = readContext(params);
    if (!isJsonObject(ref) || !isJsonObject(argument) || given === undefined) return undefined;
    const name = ownParam(argument, "name");
    const value = ownParam(argument, "value");
    const key = ownParam(ref, ref["type"] === "ref/prompt" ? "name" : "uri");
    if (typeof name !== "string" || typeof value !== "string" || typeof key !== "string") return undefined;
    const found = this.#find(ref["type"], key);
    if (found === undefined) return undefined;
    const { target, of } = found;
    const filled = toFilled(given, target?.completers);
    return { target, where: `completing "${name}" of ${of}`, name, value, filled };
  }

  #find(type: unknown, key: string): Found | undefined {
    if (type === "ref/prompt") return { target: this.#prompts.get(key), of: `prompt "${key}"` };
    return type === "ref/resource" ? { target: this.#uris.get(key), of: `resource "${key}"` } : undefined;
  }
}

/** What was filled in already; `undefined` where it is not what the protocol says. */
function readContext(params: JsonObject | undefined): JsonObject | undefined {
  const context = ownParam(params, "context") ?? noArguments;
  if (ownParam(params, "context") === null || !isJsonObject(context)) return undefined;
  const given = Object.hasOwn(context, "arguments") ? context["arguments"] : noArguments;
  return isJsonObject(given) && Object.values(given).every((each) => typeof each === "string") ? given : undefined;
}

/** Of what was filled in, what there is to fill in: an object that inherits nothing, since its names are asked for freely. */
function toFilled(given: JsonObject, completers: Completers | undefined): Filled {
  // Without a prototype it has no keys yet.
  const filled = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(given)) {
    if (completers?.has(name) !== true || typeof value !== "string" || value.length > maxFilledLength) continue;
    filled[name] = value;
  }
  return Object.freeze(filled);
}

/** Those of some values that go on with what was begun, each once; as many as fit, and how many there are if all were counted. */
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
 * Makes the handler of `completion/complete`; `undefined` where there is nothing to propose. What proposes values and
 * fails, or does not answer in time, proposes none: whoever types goes on without.
 */
export function createCompleteHandler({ catalog, invoker }: CompleteSource): Handler | undefined {
  if (new References(catalog).isEmpty) return undefined;
  const known = new WeakMap<Catalog, References>();
  const referencesOf = (shown: Catalog): References => {
    const references = known.get(shown) ?? new References(shown);
    known.set(shown, references);
    return references;
  };
  return async (params, { call, view }) => {
    const begun = referencesOf(view.catalog).read(params);
    if (begun === undefined) return badParams;
    call.reached("gate");
    const { target, name, value, where, filled } = begun;
    if (target === undefined) return unknownRef;
    const { scopes, requires, completers } = target;
    const completion = { where, scopes, requires, complete: completers.get(name), begun: value, filled };
    const outcome = await invoker.complete(completion, call);
    if (outcome.kind === "denied") return toDeniedError(outcome.scopes, unknownRef);
    // What its author returned may be no list at all.
    const values: unknown = outcome.kind === "values" ? outcome.values : [];
    return toCompletion(Array.isArray(values) ? values : [], value);
  };
}
