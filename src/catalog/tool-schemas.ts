import { deepFreeze, setOwn, isJsonObject, type JsonObject, type JsonSchema } from "../schema/json.ts";
import { flattenRoot, refusedAtRoot } from "../schema/flatten-root.ts";
import { toInputSchema, toOutputSchema, type CompiledSchema } from "../schema/compile-schema.ts";
import type { MaybeSchema } from "../surface/member.ts";
import type { ToolInput, ToolOutput } from "./entry.ts";
import { SurfaceError } from "../errors.ts";
import type { Schema } from "../schema/standard.ts";
import { anyCodec } from "../schema/wire-codec.ts";
import { isRichContent } from "./content/rich-content.ts";
import { isContent } from "./content/content.ts";
import { orderKeywords } from "../schema/keywords.ts";

/** How a tool with this input schema takes its arguments. @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`. */
export function toToolInput(schema: MaybeSchema, where: string): ToolInput {
  const compiled = toInputSchema(schema, where);
  const isFlat = refusedAtRoot(compiled.json).length === 0;
  const exact = isFlat ? compiled.json : compiled.exact();
  return Object.freeze({
    json: isFlat ? exact : deepFreeze(flattenRoot(exact)),
    refusedKeywords: refusedAtRoot(exact),
    decode: compiled.codec.decode.bind(compiled.codec),
    root: compiled.wrapped ? "value" : "",
  });
}

/** Splits arguments into the member's own input and the fields that every tool of its kind takes. */
export function splitFields(args: JsonObject, names: readonly string[]): readonly [own: JsonObject, extra: JsonObject] {
  const own: JsonObject = {};
  const extra: JsonObject = {};
  for (const [name, value] of Object.entries(args)) setOwn(names.includes(name) ? extra : own, name, value);
  return [own, extra];
}

/** The output side of a schema that is always there. @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`. */
export function compileOutput(schema: Schema, where: string): CompiledSchema {
  const compiled = toOutputSchema(schema, where);
  if (compiled === undefined)
    throw new SurfaceError("SCHEMA_UNSUPPORTED", `Converting ${where}: it has no output schema`);
  return compiled;
}

/** The answer of a tool whose author declared no output: any JSON; what is not an object travels under `value`. */
export const undeclaredOutput: ToolOutput = Object.freeze({
  json: undefined,
  stringify(value: unknown): string {
    if (value === undefined) return "{}";
    const json = anyCodec.encode(value);
    return JSON.stringify(isJsonObject(json) ? json : { value: json });
  },
});

/** The answer of a tool whose output is `richContent`: what it says to programs is under no schema. */
const richOutput: ToolOutput = Object.freeze({ ...undeclaredOutput, rich: "always" });

/** Returns {@link undeclaredOutput} of one tool, which refuses tool results in the shape of the protocol. */
function toCheckedOutput(where: string): ToolOutput {
  return Object.freeze({
    ...undeclaredOutput,
    stringify(value: unknown): string {
      assertNotResult(value, where);
      return undeclaredOutput.stringify(value);
    },
  });
}

/** Returns the output of a tool with this schema. @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`. */
export function toToolOutput(schema: MaybeSchema, where: string): ToolOutput {
  if (isRichContent(schema)) return richOutput;
  const compiled = toOutputSchema(schema, where);
  if (compiled === undefined) return toCheckedOutput(where);
  const { json, codec } = compiled;
  return Object.freeze({ json, stringify: codec.stringify.bind(codec) });
}

/** A tool result in the shape of the protocol. */
export interface McpResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}

function isBlock(block: unknown): boolean {
  return isJsonObject(block) && typeof block["type"] === "string";
}

/** The values that each member of a result may have. An object with any other key is a document, or an answer of its own. */
const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  content: (value) => Array.isArray(value) && value.every(isBlock),
  structuredContent: (value) => value === undefined || isJsonObject(value),
  isError: (value) => value === undefined || typeof value === "boolean",
  _meta: (value) => value === undefined || isJsonObject(value),
  resultType: (value) => value === undefined || value === "complete",
};

/** Returns whether a value has the shape of a tool result, and no other member. */
export function isMcpResult(value: object): value is McpResult {
  if (!Object.hasOwn(value, "content")) return false;
  return Object.entries(value).every(([key, held]) => Object.hasOwn(fits, key) && fits[key]?.(held) === true);
}

const blockTypes: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link"]);

/** Returns whether a value can only be meant as a tool result. A document may well have no content, or content of other types. */
function isMeantAsResult(value: object): boolean {
  if (!isMcpResult(value) || !value.content.every(({ type }) => blockTypes.has(type))) return false;
  return value.content.length > 0 || Object.hasOwn(value, "isError");
}

/**
 * Refuses a tool result in the shape of the protocol: it would be answered as data, and its `isError: true` as a success. Refuses
 * what `content()` made, too, where a procedure returns it without the output schema for it.
 *
 * @throws SurfaceError `INVALID_OUTPUT`.
 */
function assertNotResult(value: unknown, origin: string): void {
  if (typeof value !== "object" || value === null) return;
  if (isContent(value)) {
    throw new SurfaceError(
      "INVALID_OUTPUT",
      `Cannot answer for ${origin}: its handler returned content(…); declare "output: richContent" for it`,
    );
  }
  if (!isMeantAsResult(value)) return;
  throw new SurfaceError(
    "INVALID_OUTPUT",
    `Cannot answer for ${origin}: its handler returned an MCP result, { content: [...] }; return content(…) for content blocks ` +
      '(of a procedure with "output: richContent"), throw a Refusal for an error, or declare an output if this is your data',
  );
}

/** Adds optional fields to the input of a tool, which is one plain object; the schema given is not changed. */
export function withFields(json: JsonSchema, fields: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const { properties, propertyNames } = json;
  const names = { anyOf: [propertyNames ?? {}, { type: "string", enum: Object.keys(fields) }] };
  const admitting: JsonObject = propertyNames === undefined ? {} : { propertyNames: names };
  const own: JsonObject = isJsonObject(properties) ? properties : {};
  return deepFreeze(orderKeywords({ ...json, ...admitting, properties: { ...own, ...fields } }));
}
