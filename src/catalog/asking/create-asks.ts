import { Refusal } from "../../errors.ts";
import { assertKnownOptions } from "../../options/known-names.ts";
import { option, required, text, wholeNumber, type OptionFields } from "../../options/option.ts";
import { invalidOption, pickOptions } from "../../options/read-options.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import type { EntryCall } from "../entry.ts";
import { toAskForm } from "./ask-form.ts";
import {
  askTimeoutProblem,
  type AskContent,
  type Asks,
  type AskSchema,
  type AskTimeoutOptions,
  type Elicited,
  type ElicitRequest,
  type Root,
  type Sampled,
  type SampleRequest,
} from "./asking.ts";

/** The answer of a user to a form. */
interface Filled {
  readonly action: "accept" | "decline" | "cancel";
  /** The fields; empty if the user did not accept. */
  readonly content: JsonObject;
}

function invalidAnswer(what: string): Refusal {
  return new Refusal("ASK_FAILED", `the client's answer is ${what}`);
}

/** Reads the answer to a form. @throws Refusal `ASK_FAILED`. */
export function readFilled({ action, content = {} }: JsonObject): Filled {
  if (action === "decline" || action === "cancel") return { action, content: {} };
  if (action !== "accept") throw invalidAnswer("not one to a form");
  if (content !== null && !isJsonObject(content)) throw invalidAnswer("a form without fields");
  return { action, content: content ?? {} };
}

function readBlock(block: JsonValue | undefined): JsonObject {
  if (isJsonObject(block) && typeof block["type"] === "string") return block;
  throw invalidAnswer("not a message of a model");
}

/** Reads the answer of a model. @throws Refusal `ASK_FAILED`. */
function readSampled({ role, content, model, stopReason }: JsonObject): Sampled {
  if ((role !== "user" && role !== "assistant") || typeof model !== "string") {
    throw invalidAnswer("not a message of a model");
  }
  const blocks = (Array.isArray(content) ? content : [content]).map(readBlock);
  const texts = blocks.flatMap((block) =>
    block["type"] === "text" && typeof block["text"] === "string" ? [block["text"]] : [],
  );
  return {
    role,
    text: texts.join(""),
    content: blocks,
    model,
    ...(typeof stopReason === "string" ? { stopReason } : {}),
  };
}

/** Reads the roots of a client. @throws Refusal `ASK_FAILED`. */
function readRoots({ roots }: JsonObject): readonly Root[] {
  if (!Array.isArray(roots)) throw invalidAnswer("not a list of roots");
  return roots.map((root) => {
    if (!isJsonObject(root) || typeof root["uri"] !== "string") throw invalidAnswer("not a list of roots");
    const { uri, name } = root;
    return { uri, ...(typeof name === "string" ? { name } : {}) };
  });
}

const keyPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** The key of the request for roots, of which one runs at a time. Keys of authors have no dot. */
const rootsKey = ".roots";

const sampleFields: OptionFields<Omit<SampleRequest, "messages" | "timeoutMs">> = {
  maxTokens: required(wholeNumber(1)),
  systemPrompt: text,
  temperature: option("a number", (value) => typeof value === "number"),
  stopSequences: option("a list of texts", Array.isArray),
  modelPreferences: option("an object", isJsonObject),
  metadata: option("an object", isJsonObject),
};

function ignore(): void {}

/** Returns the name of a question in errors. @throws SurfaceError `INVALID_OPTION` for an invalid key. */
function nameOf(key: unknown): string {
  if (typeof key === "string" && keyPattern.test(key)) return `Asking "${key}"`;
  throw invalidOption("Asking the client", "its key must be 1 to 64 letters, digits, dashes or underscores");
}

function toMessage(message: unknown, where: string): JsonValue {
  if (isJsonObject(message)) {
    const { role, content } = message;
    const isContent = typeof content === "string" || isJsonObject(content) || Array.isArray(content);
    if ((role === "user" || role === "assistant") && isContent) {
      return { role, content: typeof content === "string" ? { type: "text", text: content } : content };
    }
  }
  throw invalidOption(where, 'a message must be { role: "user" | "assistant", content }, with a text or blocks');
}

function toSampleParams(request: SampleRequest, where: string): JsonObject {
  // A copy, which the handler cannot change afterwards.
  const given: unknown = JSON.parse(anyCodec.stringify(request));
  const messages = isJsonObject(given) ? given["messages"] : undefined;
  if (!isJsonObject(given) || !Array.isArray(messages) || messages.length === 0) {
    throw invalidOption(where, '"messages" must be a list of at least one');
  }
  return { messages: messages.map((message) => toMessage(message, where)), ...pickOptions(given, sampleFields, where) };
}

/** Returns the timeout of one question. @throws SurfaceError `INVALID_OPTION`. */
function readTimeout({ timeoutMs }: AskTimeoutOptions, where: string): number | undefined {
  const problem = timeoutMs === undefined ? undefined : askTimeoutProblem(timeoutMs);
  if (problem !== undefined) throw invalidOption(where, problem);
  return timeoutMs;
}

function readElicit(request: string | ElicitRequest, where: string): ElicitRequest {
  const read = typeof request === "string" ? { message: request } : request;
  assertKnownOptions(read, ["message", "timeoutMs"], where);
  if (typeof read.message !== "string" || read.message === "") throw invalidOption(where, "its message must be a text");
  return read;
}

/** Returns a promise whose rejection does not end the process if the handler never awaits it. */
function unawaited<TValue>(answer: Promise<TValue>): Promise<TValue> {
  answer.catch(ignore);
  return answer;
}

/** Asks the client of one call. */
class CallAsks implements Asks {
  readonly #call: EntryCall;

  constructor(call: EntryCall) {
    this.#call = call;
  }

  // Fields, so that handlers can destructure them.
  readonly elicit = <TSchema extends AskSchema>(
    key: string,
    schema: TSchema,
    message: string | ElicitRequest,
  ): Promise<Elicited<AskContent<TSchema>>> =>
    // The output of the schema has its type.
    unawaited(this.#elicit(key, schema, message) as Promise<Elicited<AskContent<TSchema>>>);

  readonly sample = (key: string, request: SampleRequest): Promise<Sampled> => unawaited(this.#sample(key, request));

  readonly roots = (options: AskTimeoutOptions = {}): Promise<readonly Root[]> => unawaited(this.#roots(options));

  readonly onRoots = (changed: () => void): (() => void) => this.#call.onRoots(changed);

  async #elicit(key: string, schema: AskSchema, request: string | ElicitRequest): Promise<Elicited<unknown>> {
    const where = nameOf(key);
    const read = readElicit(request, where);
    const timeoutMs = readTimeout(read, where);
    const form = toAskForm(schema, where);
    const params = { message: read.message, requestedSchema: form.json };
    const { action, content } = readFilled(await this.#call.ask(key, { kind: "elicit", params, timeoutMs }));
    return action === "accept" ? { action, content: await form.read(content) } : { action };
  }

  async #sample(key: string, request: SampleRequest): Promise<Sampled> {
    const where = nameOf(key);
    // First, since a time such as NaN has no JSON form.
    const timeoutMs = isJsonObject(request) ? readTimeout(request, where) : undefined;
    const params = toSampleParams(request, where);
    return readSampled(await this.#call.ask(key, { kind: "sample", params, timeoutMs }));
  }

  async #roots(options: AskTimeoutOptions): Promise<readonly Root[]> {
    const where = "Asking for roots";
    assertKnownOptions(options, ["timeoutMs"], where);
    const timeoutMs = readTimeout(options, where);
    return readRoots(await this.#call.ask(rootsKey, { kind: "roots", params: {}, timeoutMs }));
  }
}

/** Creates `context.ask` of a call. Each method checks its arguments before it asks. */
export function createAsks(call: EntryCall): Asks {
  return new CallAsks(call);
}
