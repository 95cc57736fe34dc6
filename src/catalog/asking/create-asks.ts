import { Refusal, SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import {
  askTimeoutProblem,
  type Root,
  type Sampled,
  type AskContent,
  type Asks,
  type AskSchema,
  type AskTimeoutOptions,
  type Elicited,
  type ElicitRequest,
  type SampleRequest,
} from "./asking.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import { assertKnownOptions } from "../../options/known-names.ts";
import { toAskForm } from "./ask-form.ts";
import type { EntryCall } from "../entry.ts";

/** What a user did with a form. */
interface Filled {
  readonly action: "accept" | "decline" | "cancel";
  /** What they filled in; empty where that is nothing. */
  readonly content: JsonObject;
}

function fail(what: string): Refusal {
  return new Refusal("ASK_FAILED", `the client's answer is ${what}`);
}

/** What a client says of a form. @throws Refusal `ASK_FAILED` for what is no such answer. */
export function readFilled({ action, content = {} }: JsonObject): Filled {
  if (action === "decline" || action === "cancel") return { action, content: {} };
  if (action !== "accept") throw fail("none to a form");
  if (content !== null && !isJsonObject(content)) throw fail("a form without fields");
  return { action, content: content ?? {} };
}

function toBlocks(content: JsonValue | undefined): readonly JsonObject[] {
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.map((block) => {
    if (isJsonObject(block) && typeof block["type"] === "string") return block;
    throw fail("no message of a model");
  });
}

/** What a client's model has written. @throws Refusal `ASK_FAILED` for what is no such answer. */
function readSampled({ role, content, model, stopReason }: JsonObject): Sampled {
  if ((role !== "user" && role !== "assistant") || typeof model !== "string") throw fail("no message of a model");
  const blocks = toBlocks(content);
  const texts = blocks.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  return {
    role,
    text: texts.join(""),
    content: blocks,
    model,
    ...(typeof stopReason === "string" ? { stopReason } : {}),
  };
}

function readRoot(root: JsonValue): Root {
  if (!isJsonObject(root) || typeof root["uri"] !== "string") throw fail("no list of roots");
  const { uri, name } = root;
  return { uri, ...(typeof name === "string" ? { name } : {}) };
}

/** Where a client's user works. @throws Refusal `ASK_FAILED` for what is no such answer. */
function readRoots({ roots }: JsonObject): readonly Root[] {
  if (!Array.isArray(roots)) throw fail("no list of roots");
  return roots.map(readRoot);
}

const keyPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** The key of the question where the user works, which has one answer at a time. No author's key has a dot. */
const rootsKey = ".roots";

/** What a request for a sample may say besides its messages, and what each of these has to be. */
const sampleWords = {
  maxTokens: (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0,
  systemPrompt: (value: unknown) => value === undefined || typeof value === "string",
  temperature: (value: unknown) => value === undefined || typeof value === "number",
  stopSequences: (value: unknown) => value === undefined || Array.isArray(value),
  modelPreferences: (value: unknown) => value === undefined || isJsonObject(value),
  metadata: (value: unknown) => value === undefined || isJsonObject(value),
} as const satisfies Partial<Record<keyof SampleRequest, (value: unknown) => boolean>>;

function ignore(): void {}

function invalid(where: string, must: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `${where}: ${must}`);
}

/** Names a question in errors. @throws SurfaceError `INVALID_OPTION` for what is no key. */
function nameOf(key: unknown): string {
  if (typeof key === "string" && keyPattern.test(key)) return `Asking "${key}"`;
  throw invalid("Asking the client", "its key must be 1 to 64 letters, digits, dashes or underscores");
}

function toMessage(message: unknown, where: string): JsonValue {
  if (isJsonObject(message)) {
    const { role, content } = message;
    const isContent = typeof content === "string" || isJsonObject(content) || Array.isArray(content);
    if ((role === "user" || role === "assistant") && isContent) {
      return { role, content: typeof content === "string" ? { type: "text", text: content } : content };
    }
  }
  throw invalid(where, 'a message must be { role: "user" | "assistant", content }, with a text or blocks');
}

function toSampleParams(request: SampleRequest, where: string): JsonObject {
  // A copy, so that what a handler does to its own afterwards is not what is asked.
  const given: unknown = JSON.parse(anyCodec.stringify(request));
  const messages = isJsonObject(given) ? given["messages"] : undefined;
  if (!isJsonObject(given) || !Array.isArray(messages) || messages.length === 0) {
    throw invalid(where, '"messages" must be a list of at least one');
  }
  const params: JsonObject = { messages: messages.map((message) => toMessage(message, where)) };
  for (const [word, fits] of Object.entries(sampleWords)) {
    const value = given[word];
    if (!fits(value)) throw invalid(where, `"${word}" is not what it must be`);
    if (value !== undefined) params[word] = value;
  }
  return params;
}

/** Asks by way of one call. May be made as often as anybody asks. */
class CallAsks implements Asks {
  readonly #call: EntryCall;

  constructor(call: EntryCall) {
    this.#call = call;
  }

  // Fields and not methods, since handlers take them out of the context.
  readonly elicit = <TSchema extends AskSchema>(
    key: string,
    schema: TSchema,
    message: string | ElicitRequest,
  ): Promise<Elicited<AskContent<TSchema>>> =>
    // What the schema makes of it is what its type says.
    quiet(this.#elicit(key, schema, message) as Promise<Elicited<AskContent<TSchema>>>);

  readonly sample = (key: string, request: SampleRequest): Promise<Sampled> => quiet(this.#sample(key, request));

  readonly roots = (options: AskTimeoutOptions = {}): Promise<readonly Root[]> => quiet(this.#roots(options));

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
    // First, since a time such as NaN is no JSON.
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

/** Returns the time that an author sets for one question. @throws SurfaceError `INVALID_OPTION`. */
function readTimeout({ timeoutMs }: AskTimeoutOptions, where: string): number | undefined {
  if (timeoutMs === undefined) return undefined;
  const problem = askTimeoutProblem(timeoutMs);
  if (problem !== undefined) throw invalid(where, problem);
  return timeoutMs;
}

function readElicit(request: string | ElicitRequest, where: string): ElicitRequest {
  if (typeof request === "string") return readElicit({ message: request }, where);
  assertKnownOptions(request, ["message", "timeoutMs"], where);
  if (typeof request.message !== "string" || request.message === "") {
    throw invalid(where, "its message must be a text");
  }
  return request;
}

/** One that nobody waits for and that is refused would end the process. */
function quiet<TValue>(answer: Promise<TValue>): Promise<TValue> {
  answer.catch(ignore);
  return answer;
}

/** What handlers ask the client of their call by: what they say is looked at before anything is asked. */
export function createAsks(call: EntryCall): Asks {
  return new CallAsks(call);
}
