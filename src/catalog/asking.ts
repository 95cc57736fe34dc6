import type { JsonObject, JsonSchema } from "../schema/json.ts";
import type { InferOutput, Schema } from "../schema/standard.ts";

/** What a client can be asked: its user by a form, its model, or where its user works. */
export type AskKind = "elicit" | "sample" | "roots";

/** One question to a client: a kind, and the params of its protocol method. */
export interface ClientAsk {
  readonly kind: AskKind;
  readonly params: JsonObject;
  /** Milliseconds in which the client must answer. @default the app's time for questions of this kind */
  readonly timeoutMs?: number | undefined;
}

/** A question with the time that it has. */
export interface TimedAsk extends ClientAsk {
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

/** What a form comes to: what the schema makes of it, or JSON where that is a JSON Schema. */
export type AskContent<TSchema> = [Extract<TSchema, Schema>] extends [never]
  ? JsonObject
  : InferOutput<Extract<TSchema, Schema>>;

/** What a user has said to a form. Only `"accept"` is consent. */
export type Elicited<TContent> =
  | { readonly action: "accept"; readonly content: TContent }
  | { readonly action: "decline" | "cancel" };

/** A message that a model is given. */
export interface SampleMessage {
  readonly role: "user" | "assistant";
  /** A block of content, or several; a text stands for a block of it. */
  readonly content: string | JsonObject | readonly JsonObject[];
}

/** A request to the client's model: the params of `sampling/createMessage`, and the time that it has. */
export interface SampleRequest extends AskTimeoutOptions {
  readonly messages: readonly SampleMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: JsonObject;
  readonly metadata?: JsonObject;
}

/** What a client's model has written. */
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
 * Asks the client of a call. In sessions up to 2025-11-25 a question is sent while the handler waits; from 2026-07-28 on the
 * call ends with it and the handler runs again, from its beginning, with the answers: what it does before a question must be
 * the same each time, and do no harm twice. What was called by `call` before is not called again.
 *
 * All of them reject with a `Refusal`: `CLIENT_CANNOT`, before anything is sent, for a client that did not say that it can be
 * asked this; `ASK_FAILED` where it answered with an error or with what is no answer; `ASK_TIMEOUT` where it did not answer in
 * time ({@link AskTimeoutOptions}). And with a `SurfaceError` of code `INPUT_REQUIRED` where the answer
 * comes with another request: let it through.
 */
export interface Asks {
  /**
   * Has the user fill in a form.
   *
   * @param key - names the question within the call, the same each time the handler runs: letters, digits, `_` and `-`, at most 64.
   * @param schema - the fields: a flat object. What the user says is validated against it.
   * @param message - one or a few sentences that the user reads, alone or with the time that the client has.
   */
  elicit<TSchema extends AskSchema>(
    key: string,
    schema: TSchema,
    message: string | ElicitRequest,
  ): Promise<Elicited<AskContent<TSchema>>>;
  /** Has the client's model write something. */
  sample(key: string, request: SampleRequest): Promise<Sampled>;
  /** Where the user works. In sessions asked once, and again when it has changed. */
  roots(options?: AskTimeoutOptions): Promise<readonly Root[]>;
  /** Calls `changed` when the client says that its roots are others, for as long as the call runs. Returns what stops it. */
  onRoots(changed: () => void): () => void;
}

/** What came of a question so far, for when a call is made again. */
export interface AskAnswer {
  /** Of the question that was asked under this key. */
  readonly digest: string;
  /** Left out while it is open. */
  readonly answer?: JsonObject;
  /** How often in a row it was another question than the one that was answered before. Left out: it was not. */
  readonly changed?: number;
}

/** What a call has come to that ended with questions: handed back with their answers. Plain JSON, without meaning for others. */
export interface AskRecord {
  /** What digests within the call are made with. */
  readonly salt: string;
  /** By key. */
  readonly asked: Readonly<Record<string, AskAnswer>>;
  /** The outcomes of calls within it that had ended, by where they were made; those are not made again. */
  readonly done: Readonly<Record<string, { readonly digest: string; readonly outcome: JsonObject }>>;
  /** The places of calls within it that the rate limiter counted and that have not ended. @default none */
  readonly counted?: readonly string[];
}

/** What a call ends with that cannot go on without answers. */
export interface Asking {
  readonly kind: "asking";
  /** What is asked now, by key; never empty. */
  readonly open: Readonly<Record<string, TimedAsk>>;
  readonly record: AskRecord;
}
