import type { JsonObject, JsonSchema } from "../../schema/json.ts";
import type { InferOutput, Schema } from "../../schema/standard.ts";
import { duration, withDefault, type OptionFields, type WithDefaults } from "../../options/option.ts";
import { readOptions } from "../../options/read-options.ts";

/** The kind of a question: a form for the user, a request to the model, or the roots where the user works. */
export type AskKind = "elicit" | "sample" | "roots";

/** One question to a client: a kind, and the params of its protocol method. */
export interface InputRequest {
  readonly kind: AskKind;
  readonly params: JsonObject;
  /** Milliseconds in which the client must answer. @default the app's time for questions of this kind */
  readonly timeoutMs?: number | undefined;
}

/** A question with its timeout. */
export interface TimedInputRequest extends InputRequest {
  readonly timeoutMs: number;
}

/** Milliseconds in which a client must answer a question, by the kind of the question; each at most 3,600,000. */
export interface AskTimeouts {
  /** For a form, which a person reads. @default 300_000 */
  readonly elicit?: number;
  /** For a text of the client's model. @default 60_000 */
  readonly sample?: number;
  /** For roots, which a program looks up. @default 10_000 */
  readonly roots?: number;
}

/** The time of one question. */
export interface AskTimeoutOptions {
  /**
   * Milliseconds in which the client must answer; at most 3,600,000. A tool's own `timeoutMs` still bounds the whole call.
   * @default `asking.timeoutMs` of the app for this kind of question
   */
  readonly timeoutMs?: number;
}

/** A form for the user. */
export interface ElicitRequest extends AskTimeoutOptions {
  /** One or a few sentences that the user reads. */
  readonly message: string;
}

/** The fields of a form: a flat object of texts, numbers, booleans and choices, as a schema or a JSON Schema. */
export type AskSchema = Schema | JsonSchema;

/** The content of a filled-in form: the output of its schema, or JSON for a JSON Schema. */
export type AskContent<TSchema> = [Extract<TSchema, Schema>] extends [never]
  ? JsonObject
  : InferOutput<Extract<TSchema, Schema>>;

/** The answer of a user to a form. Only `"accept"` is consent. */
export type Elicited<TContent> =
  | { readonly action: "accept"; readonly content: TContent }
  | { readonly action: "decline" | "cancel" };

/** A message to a model. */
export interface SampleMessage {
  readonly role: "user" | "assistant";
  /** A block of content, or several; a text stands for a block of it. */
  readonly content: string | JsonObject | readonly JsonObject[];
}

/** A request to the client's model: the params of `sampling/createMessage`, and a timeout. */
export interface SampleRequest extends AskTimeoutOptions {
  readonly messages: readonly SampleMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: JsonObject;
  readonly metadata?: JsonObject;
}

/** The answer of a client's model. */
export interface Sampled {
  readonly role: "user" | "assistant";
  /** The text of all blocks that are texts, in order. */
  readonly text: string;
  readonly content: readonly JsonObject[];
  readonly model: string;
  readonly stopReason?: string;
}

/** A place where the user of a client works. */
export interface Root {
  /** Today always a `file:` URI. */
  readonly uri: string;
  readonly name?: string;
}

/**
 * Asks the client of a call. Up to 2025-11-25 the client gets the question while the handler waits. From 2026-07-28 on the call
 * ends with the question, and the handler runs again from its beginning with the answers. So ask first, and change things after
 * the last question: before it, do only what does no harm twice.
 *
 * All methods reject with a `Refusal`:
 * - `CLIENT_CANNOT` if the client did not declare the capability; the client gets nothing.
 * - `ASK_AFTER_CHANGE` if a nested call that may change something has already run.
 * - `ASK_FAILED` if the client answered with an error or an invalid answer.
 * - `ASK_TIMEOUT` if the client did not answer in time ({@link AskTimeoutOptions}).
 *
 * They reject with a `SurfaceError` `INPUT_REQUIRED` when the answer comes with another request: rethrow it.
 */
export interface Asks {
  /**
   * Asks the user to fill in a form.
   *
   * @param key - names the question within the call, the same each time the handler runs: letters, digits, `_` and `-`, at most 64.
   * @param schema - the fields: a flat object. It validates the answer.
   * @param message - one or a few sentences that the user reads, alone or with a timeout.
   */
  elicit<TSchema extends AskSchema>(
    key: string,
    schema: TSchema,
    message: string | ElicitRequest,
  ): Promise<Elicited<AskContent<TSchema>>>;
  /** Asks the client's model for a message. */
  sample(key: string, request: SampleRequest): Promise<Sampled>;
  /** Returns where the user works. A session asks once, and again after a change. */
  roots(options?: AskTimeoutOptions): Promise<readonly Root[]>;
  /** Calls `changed` when the client announces other roots, for as long as the call runs. Returns a function that stops it. */
  onRoots(changed: () => void): () => void;
}

/** A question of a call that runs again with answers, and its answer. */
export interface AskAnswer {
  /** Identifies the question of this key. */
  readonly digest: string;
  /** Left out while the question is open. */
  readonly answer?: JsonObject;
  /** Number of times in a row that the question differed from the answered one. @default 0 */
  readonly changed?: number;
}

/** The answers that a client brings back, for the next round of its call. Plain JSON. */
export interface RequestState {
  /** Keys the digests within the call. */
  readonly salt: string;
  /** By key. */
  readonly asked: Readonly<Record<string, AskAnswer>>;
  /** The stamps of the operations that asked and that a source may replace, by the place of their call. @default none */
  readonly stamps?: Readonly<Record<string, string>>;
}

/** The outcome of a call that needs answers to go on. */
export interface Asking {
  readonly kind: "asking";
  /** The open questions, by key; never empty. */
  readonly open: Readonly<Record<string, TimedInputRequest>>;
  readonly record: RequestState;
}

/** The longest time that a client may have to answer a question, in milliseconds. */
export const maxAskTimeoutMs = 3_600_000;

const askTimeout = duration(maxAskTimeoutMs);

/** The schemas of the timeouts of an app, by kind of question. */
export const askTimeoutFields: OptionFields<AskTimeouts> & WithDefaults<AskKind> = {
  elicit: withDefault(askTimeout, 300_000),
  sample: withDefault(askTimeout, 60_000),
  roots: withDefault(askTimeout, 10_000),
};

/** Returns the problem with the timeout of a question; `undefined` for a valid one. */
export function askTimeoutProblem(timeoutMs: unknown): string | undefined {
  return askTimeout.problem(timeoutMs, "timeoutMs");
}

/** Returns the timeouts of an app, with the defaults for those that it does not set. */
export function toAskTimeouts(timeouts: AskTimeouts = {}): Readonly<Record<AskKind, number>> {
  return Object.freeze(readOptions(timeouts, askTimeoutFields, "Asking"));
}
