import { SurfaceError } from "../errors.ts";
import { toInputSchema, toOutputSchema, type CompiledSchema } from "../schema/compile-schema.ts";
import { flattenRoot, rejectedRootKeywords } from "../schema/flatten-root.ts";
import { deepFreeze, isJsonObject, setOwn, type JsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import { orderKeywords } from "../schema/keywords.ts";
import type { Schema } from "../schema/standard.ts";
import { anyCodec } from "../schema/wire-codec.ts";
import type { MaybeSchema } from "../surface/member.ts";
import { isContent } from "./content/content.ts";
import { isRichContent } from "./content/rich-content.ts";
import type { ToolInput, ToolOutput } from "./entry.ts";

/** Returns the input of a tool with this schema. @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`. */
export function toToolInput(schema: MaybeSchema, where: string): ToolInput {
  const { json, codec, wrapped } = toInputSchema(schema, where);
  const refusedKeywords = rejectedRootKeywords(json);
  return Object.freeze({
    json: refusedKeywords.length === 0 ? json : deepFreeze(flattenRoot(json)),
    refusedKeywords,
    decode: codec.decode.bind(codec),
    root: wrapped ? "value" : "",
  });
}

/** Splits arguments into the member's own input and the arguments that every tool of its kind takes. */
export function splitFields(args: JsonObject, names: readonly string[]): readonly [own: JsonObject, extra: JsonObject] {
  const own: JsonObject = {};
  const extra: JsonObject = {};
  for (const [name, value] of Object.entries(args)) setOwn(names.includes(name) ? extra : own, name, value);
  return [own, extra];
}

/** Compiles an output schema. @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`. */
export function compileOutput(schema: Schema, where: string): CompiledSchema {
  const compiled = toOutputSchema(schema, where);
  if (compiled === undefined)
    throw new SurfaceError("SCHEMA_UNSUPPORTED", `Converting ${where}: it has no output schema`);
  return compiled;
}

/** The output of a tool without an output schema: any JSON. A value that is not an object is put under `value`. */
export const undeclaredOutput: ToolOutput = Object.freeze({
  json: undefined,
  stringify(value: unknown): string {
    if (value === undefined) return "{}";
    const json = anyCodec.encode(value);
    return JSON.stringify(isJsonObject(json) ? json : { value: json });
  },
});

/** The output of a tool with `richContent`: its `structuredContent` has no schema. */
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

/** The values that each member of a result may have. An object with another key is data. */
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
 * Refuses a tool result in the shape of the protocol: it would be sent as data, and its `isError: true` as a success. Also refuses
 * the result of `content()` from a procedure without `output: richContent`.
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

/** An optional integer argument of a generated tool. */
export interface NumberField {
  readonly name: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
  readonly description: string;
}

/** Caps a wait at the timeout of the tool: a longer wait could only end with `TIMEOUT`, where the tool has a result for it. */
export function capField(field: NumberField, timeoutMs: number | undefined): NumberField {
  if (timeoutMs === undefined || timeoutMs >= field.maximum) return field;
  const maximum = Math.max(field.minimum, Math.floor(timeoutMs));
  return { ...field, maximum, default: Math.min(field.default, maximum) };
}

/** Returns the JSON Schema of a field. */
export function toFieldSchema({ description, minimum, maximum, default: value }: NumberField): JsonSchema {
  return Object.freeze({ type: "integer", description, minimum, maximum, default: value });
}

/** Creates the error of an argument of a generated tool. Agents read `message`. */
export function invalidArgument(path: string, message: string): SurfaceError {
  return new SurfaceError("VALIDATION_ERROR", `Cannot read "${path}": ${message}`, { issues: [{ path, message }] });
}

/** Returns an argument; `undefined` if it was left out. */
export function argumentOf(args: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/** Returns the value of a field. @throws SurfaceError `VALIDATION_ERROR` for a value that is not an integer in range. */
export function readField({ name, minimum, maximum, default: byDefault }: NumberField, args: JsonObject): number {
  const value = argumentOf(args, name);
  if (value === undefined) return byDefault;
  if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw invalidArgument(name, `expected an integer from ${minimum} to ${maximum}`);
}
