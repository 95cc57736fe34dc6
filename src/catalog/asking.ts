import type { JsonObject, JsonSchema } from "../schema/json.ts";
import type { InferOutput, Schema } from "../schema/standard.ts";

/** What a client can be asked: its user by a form, its model, or where its user works. */
export type AskKind = "elicit" | "sample" | "roots";

/** One question to a client, as it goes over the wire: the params of the method that its kind stands for. */
export interface ClientAsk {
  readonly kind: AskKind;
  readonly params: JsonObject;
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

/** What a client's model is asked to write: the params of `sampling/createMessage`. */
export interface SampleRequest {
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
 * time: 10 s for roots, 60 s for a sample, 5 min for a form. And with a `SurfaceError` of code `INPUT_REQUIRED` where the answer
 * comes with another request: let it through.
 */
export interface Asks {
  /**
   * Has the user fill in a form.
   *
   * @param key - names the question within the call, the same each time the handler runs: letters, digits, `_` and `-`, at most 64.
   * @param schema - the fields: a flat object. What the user says is validated against it.
   * @param message - what they read, one or a few sentences.
   */
  elicit<TSchema extends AskSchema>(
    key: string,
    schema: TSchema,
    message: string,
  ): Promise<Elicited<AskContent<TSchema>>>;
  /** Has the client's model write something. */
  sample(key: string, request: SampleRequest): Promise<Sampled>;
  /** Where the user works. In sessions asked once, and again when it has changed. */
  roots(): Promise<readonly Root[]>;
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
}

/** What a call ends with that cannot go on without answers. */
export interface Asking {
  readonly kind: "asking";
  /** What is asked now, by key; never empty. */
  readonly open: Readonly<Record<string, ClientAsk>>;
  readonly record: AskRecord;
}
