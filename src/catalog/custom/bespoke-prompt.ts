import { SurfaceError } from "../../errors.ts";
import { isObject } from "../../options/is-object.ts";
import { text, unchecked, type OptionFields } from "../../options/option.ts";
import { coerceScalar, scalarFields, type ScalarField } from "../../schema/coerce-scalar.ts";
import { toInputSchema, type CompiledSchema } from "../../schema/compile-schema.ts";
import { setOwn, type JsonObject, type JsonValue } from "../../schema/json.ts";
import type { InferInput, Schema } from "../../schema/standard.ts";
import { checkInput } from "../../surface/check-value.ts";
import type { MaybeSchema } from "../../surface/member.ts";
import { freezeDisplayMetadata, displayFields, type DisplayMetadata } from "../../tags/display-metadata.ts";
import type { UnfitForUri } from "../../tags/mcp-resource.ts";
import { scopeFieldsWithoutArgument, type ScopeOptions } from "../../tags/scopes.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import { blockJson, type ContentBlock } from "../content/content.ts";
import type { MemoryContext } from "../context/memory-context.ts";
import { runHandler, runInContext, type BespokeSource, type ToolContext } from "../context/tool-context.ts";
import type { PromptArgument, PromptEntry } from "../entry.ts";
import { toGuard } from "../entry-scopes.ts";
import { invalidArgument, argumentOf } from "../tool-schemas.ts";
import { toWireName } from "../wire-name.ts";
import { handler, readEntry, standardSchema, type BespokeArguments } from "./bespoke-tool.ts";
import { assertCompleters, toCompleter, type AnyBespokeCompleters, type BespokeCompleters } from "./completers.ts";

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: "user" | "assistant";
  /** A text, or a block: a picture, or a resource. */
  readonly content: ContentBlock | string;
}

/** The result of a prompt's handler: the text of one message of the user, or several messages. */
export type PromptAnswer = string | readonly PromptMessage[];

/** The options of every prompt, apart from its input. */
export interface PromptMetadata extends DisplayMetadata, ScopeOptions {
  readonly title?: string;
  readonly description?: string;
}

/** A prompt: an input and a handler that writes the messages. The protocol passes all arguments as texts. */
export interface BespokePrompt<TInput, TSpec, TContext = MemoryContext> extends PromptMetadata {
  /** The schema of the arguments: a flat object of scalars. @default no arguments */
  readonly input?: TInput;
  /** Proposes values by field. Fields of an enum or of true and false need no completer. */
  readonly complete?: BespokeCompleters<TInput, TSpec, TContext>;
  handler(args: BespokeArguments<TInput>, context: ToolContext<TSpec, TContext>): PromptAnswer | Promise<PromptAnswer>;
}

/** `unknown` when a schema's fields can all be told as texts, else the sentence that says why not. */
export type TextsProblem<TInput> = [Extract<TInput, Schema>] extends [never]
  ? unknown
  : AreTexts<InferInput<Extract<TInput, Schema>>> extends true
    ? unknown
    : TypeProblem<"the input of a prompt must be a flat object of scalars: its arguments are all texts">;

/** `true` for an object whose fields are all scalars; `any` is not known to be one. */
type AreTexts<TInput> = [TInput] extends [object] ? ([UnfitForUri<TInput>] extends [never] ? true : false) : false;

/** A prompt, without the types of its schema. */
export interface AnyBespokePrompt extends PromptMetadata {
  readonly input?: MaybeSchema;
  readonly complete?: AnyBespokeCompleters;
  handler(args: unknown, context: ToolContext<unknown, unknown>): unknown;
}

const promptFields: OptionFields<AnyBespokePrompt> = {
  handler,
  input: standardSchema,
  // Checked with the fields of the input.
  complete: unchecked,
  title: text,
  description: text,
  ...displayFields,
  ...scopeFieldsWithoutArgument,
};

/** Checks a prompt. The compiler does so too. @throws SurfaceError `INVALID_OPTION`, `MISSING_HANDLER`. */
export function readBespokePrompt(name: string, prompt: unknown): AnyBespokePrompt {
  return readEntry(prompt, promptFields, `Cannot add prompt "${name}"`);
}

const maxMessages = 1000;

function fieldsOf(schema: CompiledSchema, origin: string): readonly ScalarField[] {
  const fields = schema.wrapped ? undefined : scalarFields(schema.json);
  if (fields !== undefined) return fields;
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Cannot add ${origin}: its input must be a flat object of scalars, since all arguments of a prompt are texts`,
  );
}

function toArgument(field: ScalarField, prompt: AnyBespokePrompt, source: BespokeSource): PromptArgument {
  const { name, json, required } = field;
  const { title, description } = json;
  const complete = toCompleter(field, prompt.complete, source);
  return Object.freeze({
    name,
    required,
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(complete === undefined ? {} : { complete }),
  });
}

/** Returns the value of one argument; `undefined` if it was left out. */
function readArgument(given: JsonValue | undefined, { name, json, required }: ScalarField): JsonValue | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== "string") throw invalidArgument(name, "expected a text: all arguments of a prompt are texts");
  const value = coerceScalar(given, json);
  // Hosts send an empty text for a field that was not filled in. Validation refuses a text that fits no type.
  return value ?? (given === "" && !required ? undefined : given);
}

function readArguments(args: JsonObject, fields: readonly ScalarField[]): JsonObject {
  const values: JsonObject = {};
  for (const field of fields) {
    const value = readArgument(argumentOf(args, field.name), field);
    if (value !== undefined) setOwn(values, field.name, value);
  }
  return values;
}

function toMessage(message: unknown): JsonObject | undefined {
  if (!isObject(message) || !("role" in message) || !("content" in message)) return undefined;
  const { role, content } = message;
  const json = blockJson(content);
  return json !== undefined && (role === "user" || role === "assistant") ? { role, content: json } : undefined;
}

/** Writes the JSON text of the messages. @throws SurfaceError `INVALID_OUTPUT`. */
function writeMessages(answer: unknown, origin: string): string {
  const given: unknown = typeof answer === "string" ? [{ role: "user", content: answer }] : answer;
  const messages = Array.isArray(given) && given.length <= maxMessages ? given.map(toMessage) : [undefined];
  if (!messages.includes(undefined)) return JSON.stringify(messages);
  throw new SurfaceError(
    "INVALID_OUTPUT",
    `Cannot answer for ${origin}: its handler returned other values than messages; return a text, or at most ${maxMessages} of { role: "user" | "assistant", content } with a text or a block`,
  );
}

/** Creates the entry of a prompt, which validates its arguments. @throws SurfaceError with a boot code. */
export function toPromptEntry(name: string, prompt: AnyBespokePrompt, source: BespokeSource): PromptEntry {
  const origin = `prompt "${name}"`;
  readBespokePrompt(name, prompt);
  const schema = toInputSchema(prompt.input, origin);
  const fields = fieldsOf(schema, origin);
  assertCompleters(prompt.complete, fields, origin);
  return {
    id: name,
    name: toWireName(name, { origin }),
    origin,
    title: prompt.title,
    description: prompt.description,
    ...freezeDisplayMetadata(prompt),
    ...toGuard(source.scopes.read, prompt),
    inputSchema: schema.json,
    arguments: Object.freeze(fields.map((field) => toArgument(field, prompt, source))),
    check: (args) => checkInput(prompt.input, schema.codec.decode(readArguments(args, fields)), origin),
    async render(input, call) {
      const write = (): unknown => runInContext(call, source, (context) => prompt.handler(input, context));
      return writeMessages(await runHandler(write, origin), origin);
    },
  };
}
