import { unchecked, text, type OptionFields } from "../../options/option.ts";
import { SurfaceError } from "../../errors.ts";
import { coerceScalar, scalarFields, type ScalarField } from "../../schema/coerce-scalar.ts";
import { toInputSchema, type CompiledSchema } from "../../schema/compile-schema.ts";
import { setOwn, type JsonObject, type JsonValue } from "../../schema/json.ts";
import type { InferInput, Schema } from "../../schema/standard.ts";
import { checkInput } from "../../surface/check-value.ts";
import type { MaybeSchema } from "../../surface/member.ts";
import type { UnfitForUri } from "../../tags/mcp-resource.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import { keepLooks, lookFields, type Looks } from "../../tags/looks.ts";
import { accessFieldsWithoutArgument, type ScopeOptions } from "../../tags/scopes.ts";
import {
  assertCompleters,
  toCompleter,
  toSchemaCompleter,
  type AnyBespokeCompleters,
  type BespokeCompleters,
} from "./completers.ts";
import { runInContext, runHandler, type BespokeSource, type ToolContext } from "../context/tool-context.ts";
import type { BespokeArguments } from "./bespoke-tool.ts";
import { blockJson, type ContentBlock } from "../content/content.ts";
import { handler, readEntry, standardSchema } from "./entry-fields.ts";
import { toGuard } from "../entry-scopes.ts";
import type { PromptArgument, PromptEntry } from "../entry.ts";
import type { MemoryContext } from "../context/memory-context.ts";
import { toWireName } from "../wire-name.ts";

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: "user" | "assistant";
  /** A text, or a block: a picture, or a resource. */
  readonly content: ContentBlock | string;
}

/** What a prompt's handler returns: one message of the user's, or several of both. */
export type PromptAnswer = string | readonly PromptMessage[];

/** What every prompt says, whatever its input. */
export interface PromptWords extends Looks, ScopeOptions {
  readonly title?: string;
  readonly description?: string;
}

/** A prompt: an input, all texts on the wire, and a function that writes the messages. */
export interface BespokePrompt<TInput, TSpec, TContext = MemoryContext> extends PromptWords {
  /** The schema of the arguments: a flat object of scalars. Default: it takes none. */
  readonly input?: TInput;
  /** Proposes values by field; fields of an enum or of true and false need none. */
  readonly complete?: BespokeCompleters<TInput, TSpec, TContext>;
  handler(args: BespokeArguments<TInput>, context: ToolContext<TSpec, TContext>): PromptAnswer | Promise<PromptAnswer>;
}

/** `unknown` when a schema's fields can all be told as texts, else the sentence that says why not. */
export type TextsProblem<TInput> = [Extract<TInput, Schema>] extends [never]
  ? unknown
  : AreTexts<InferInput<Extract<TInput, Schema>>> extends true
    ? unknown
    : TypeProblem<"the input of a prompt must be a flat object of scalars: its arguments are all texts">;

/** input -> whether it is an object whose fields are all scalars; `any` is not known to be. */
type AreTexts<TInput> = [TInput] extends [object] ? ([UnfitForUri<TInput>] extends [never] ? true : false) : false;

/** A prompt as the catalog keeps it. */
export interface AnyBespokePrompt extends PromptWords {
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
  ...lookFields,
  ...accessFieldsWithoutArgument,
};

/** Reads a prompt that may not have been through the compiler. @throws SurfaceError `INVALID_OPTION`, `MISSING_HANDLER`. */
export function readBespokePrompt(name: string, prompt: unknown): AnyBespokePrompt {
  return readEntry(prompt, promptFields, `Adding prompt "${name}"`);
}

const maxMessages = 1000;

function fieldsOf(schema: CompiledSchema, origin: string): readonly ScalarField[] {
  const fields = schema.wrapped ? undefined : scalarFields(schema.json);
  if (fields !== undefined) return fields;
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Adding ${origin}: its input must be a flat object of scalars, since all arguments of a prompt are texts`,
  );
}

function textOf(json: JsonObject, key: "title" | "description"): string | undefined {
  const found = json[key];
  return typeof found === "string" ? found : undefined;
}

function toArgument(
  { name, json, required }: ScalarField,
  prompt: AnyBespokePrompt,
  source: BespokeSource,
): PromptArgument {
  const title = textOf(json, "title");
  const description = textOf(json, "description");
  const complete = toCompleter(name, { ...source, complete: prompt.complete }) ?? toSchemaCompleter(json);
  return Object.freeze({
    name,
    required,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(complete === undefined ? {} : { complete }),
  });
}

/** One argument off the wire -> its value; `undefined` for one that is not there. */
function readArgument(given: JsonValue | undefined, { name, json, required }: ScalarField): JsonValue | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== "string") {
    throw new SurfaceError("VALIDATION_ERROR", `Reading "${name}": it does not fit`, {
      issues: [{ path: name, message: "expected a text: all arguments of a prompt are" }],
    });
  }
  const value = coerceScalar(given, json);
  // Hosts send an empty text for what somebody did not fill in. What fits nothing is left for validation to name.
  return value ?? (given === "" && !required ? undefined : given);
}

function readArguments(args: JsonObject, fields: readonly ScalarField[]): JsonObject {
  const values: JsonObject = {};
  for (const field of fields) {
    const value = readArgument(Object.hasOwn(args, field.name) ? args[field.name] : undefined, field);
    if (value !== undefined) setOwn(values, field.name, value);
  }
  return values;
}

function toMessage(message: unknown): JsonObject | undefined {
  if (typeof message !== "object" || message === null || !("role" in message) || !("content" in message))
    return undefined;
  const { role, content } = message;
  const json = blockJson(content);
  return json !== undefined && (role === "user" || role === "assistant") ? { role, content: json } : undefined;
}

/** A handler's answer as the JSON text of messages. @throws SurfaceError `INVALID_OUTPUT`. */
function writeMessages(answer: unknown, origin: string): string {
  const given: unknown = typeof answer === "string" ? [{ role: "user", content: answer }] : answer;
  const messages = Array.isArray(given) && given.length <= maxMessages ? given.map(toMessage) : [undefined];
  if (!messages.includes(undefined)) return JSON.stringify(messages);
  throw new SurfaceError(
    "INVALID_OUTPUT",
    `Answering for ${origin}: it must be a text, or at most ${maxMessages} of { role: "user" | "assistant", content } with a text or a block`,
  );
}

/**
 * Turns a prompt into an entry. Its input is validated by the face, which owns it.
 *
 * @throws SurfaceError `INVALID_NAME`, `INVALID_OPTION`, `INVALID_MEMBER`, `MISSING_HANDLER` or `SCHEMA_UNSUPPORTED`.
 */
export function toPromptEntry(name: string, prompt: AnyBespokePrompt, source: BespokeSource): PromptEntry {
  const origin = `prompt "${name}"`;
  readBespokePrompt(name, prompt);
  const schema = toInputSchema(prompt.input, origin);
  const fields = fieldsOf(schema, origin);
  assertCompleters(
    prompt.complete,
    fields.map((field) => field.name),
    origin,
  );
  return {
    id: name,
    name: toWireName(name, { origin }),
    origin,
    title: prompt.title,
    description: prompt.description,
    ...keepLooks(prompt),
    ...toGuard(source.scopes.read, prompt),
    arguments: Object.freeze(fields.map((field) => toArgument(field, prompt, source))),
    check: (args) => checkInput(prompt.input, schema.codec.decode(readArguments(args, fields)), origin),
    async render(input, call) {
      const write = (): unknown => runInContext(call, source, (context) => prompt.handler(input, context));
      const answer = await runHandler(write, origin);
      return writeMessages(answer, origin);
    },
  };
}
