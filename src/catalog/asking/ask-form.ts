import { isJsonObject, setOwn, type JsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import { fromJsonSchema } from "../../schema/validator/from-json-schema.ts";
import { isBrokenSchema, isSchema, whyNoSchema, type Schema } from "../../schema/standard.ts";
import { toInputSchema } from "../../schema/compile-schema.ts";
import { checkInput } from "../../surface/check-value.ts";
import type { AskSchema } from "./asking.ts";

const formats: ReadonlySet<unknown> = new Set(["email", "uri", "date", "date-time"]);

/** What of a schema is a text, which a choice may be. */
const words = ["title", "description", "default"] as const;

function keep(json: JsonSchema, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([key]) => keys.includes(key)));
}

function areTexts(values: JsonValue | undefined): values is string[] {
  return Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === "string");
}

/** One of several constant texts, each with a title. */
function toTitled(options: JsonValue | undefined): JsonObject[] | undefined {
  if (!Array.isArray(options) || options.length === 0) return undefined;
  const titled = options.flatMap((option) => {
    const value = isJsonObject(option) ? onlyText(option) : undefined;
    if (value === undefined || !isJsonObject(option)) return [];
    const { title = value } = option;
    return typeof title === "string" ? [{ const: value, title }] : [];
  });
  return titled.length === options.length ? titled : undefined;
}

function onlyText({ const: value, enum: values }: JsonObject): string | undefined {
  const [only = value] = Array.isArray(values) && values.length === 1 ? values : [];
  return typeof only === "string" ? only : undefined;
}

/** What a choice is one of: texts, or texts with titles; `undefined` for what is no choice. */
function toChoices(json: JsonSchema): { enum: string[] } | { titled: JsonObject[] } | undefined {
  if (typeof json["const"] === "string") return { enum: [json["const"]] };
  if (areTexts(json["enum"])) return { enum: json["enum"] };
  const titled = toTitled(json["oneOf"] ?? json["anyOf"]);
  return titled && { titled };
}

function toText(json: JsonSchema): JsonObject {
  const kept = keep(json, [...words, "minLength", "maxLength"]);
  // Others are told to nobody, and validated all the same.
  return { type: "string", ...kept, ...(formats.has(json["format"]) ? { format: json["format"] ?? "" } : {}) };
}

function toList(json: JsonSchema): JsonObject | undefined {
  const { items } = json;
  const choices = isJsonObject(items) ? toChoices(items) : undefined;
  if (choices === undefined) return undefined;
  const said = keep(json, [...words, "minItems", "maxItems"]);
  return {
    type: "array",
    ...said,
    items: "enum" in choices ? { type: "string", enum: choices.enum } : { anyOf: choices.titled },
  };
}

/**
 * One field of a form as clients may be told of it: a text, a number, true or false, one or several of a choice of texts.
 * What they are not told of is validated all the same. `undefined` for what is none of these.
 */
function toFormField(json: JsonSchema): JsonObject | undefined {
  const choices = toChoices(json);
  if (choices !== undefined) {
    const said = { type: "string", ...keep(json, words) };
    return "enum" in choices ? { ...said, enum: choices.enum } : { ...said, oneOf: choices.titled };
  }
  // Of what is no text, nobody can be given a choice.
  if ("enum" in json || "const" in json) return undefined;
  switch (json["type"]) {
    case "string":
      return toText(json);
    case "number":
    case "integer":
      return { type: json["type"], ...keep(json, [...words, "minimum", "maximum"]) };
    case "boolean":
      return { type: "boolean", ...keep(json, words) };
    case "array":
      return toList(json);
    default:
      return undefined;
  }
}

/** A form that a user fills in. */
interface AskForm {
  /** What clients are told of it: a flat object. */
  readonly json: JsonObject;
  /** Reads what was filled in. Rejects with a `Refusal` `ASK_FAILED` naming the fields that do not fit. */
  read(content: JsonObject): Promise<unknown>;
}

function refuse(where: string, why: string): SurfaceError {
  return new SurfaceError("SCHEMA_UNSUPPORTED", `${where}: ${why}`);
}

function fieldsOf(json: JsonSchema, where: string): readonly (readonly [name: string, field: JsonObject])[] {
  const { type, properties = {} } = json;
  if (type !== "object" || !isJsonObject(properties)) throw refuse(where, "a form must be an object of fields");
  return Object.entries(properties).map(([name, field]) => {
    const told = isJsonObject(field) ? toFormField(field) : undefined;
    if (told !== undefined) return [name, told];
    throw refuse(
      where,
      `field "${name}" must be a text, a number, true or false, or a choice of texts: forms are flat`,
    );
  });
}

function requiredOf({ required }: JsonSchema): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** A JSON Schema goes out as its author wrote it, where each field of it is one. */
function toOwn(schema: JsonSchema, where: string): JsonObject {
  fieldsOf(schema, where);
  // A copy, and nothing but JSON.
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}

function toTold(json: JsonSchema, where: string): JsonObject {
  const properties: JsonObject = {};
  for (const [name, field] of fieldsOf(json, where)) setOwn(properties, name, field);
  const required = requiredOf(json);
  return { type: "object", properties, ...(required.length === 0 ? {} : { required: [...required] }) };
}

/** The fields that did not fit, by the author's names for them: nothing that the client has said. */
function toUnfit(cause: SurfaceError, json: JsonObject): Refusal {
  const { properties = {} } = json;
  const fields = Object.keys(properties ?? {}).filter((name) =>
    cause.issues.some(({ path }) => path === name || path.startsWith(`${name}.`)),
  );
  const named = fields.map((name) => JSON.stringify(name)).join(", ");
  const which = fields.length === 0 ? "" : `: ${named} ${fields.length === 1 ? "is" : "are"} not what was asked for`;
  return new Refusal("ASK_FAILED", `the form was filled in with what does not fit it${which}`);
}

/**
 * Reads the schema of a form.
 *
 * @param where - names the question in errors, for example `Asking "target"`.
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming the first field that no form can have.
 */
export function toAskForm(schema: AskSchema, where: string): AskForm {
  if (isBrokenSchema(schema)) throw refuse(where, whyNoSchema(schema));
  const isOwn = !isSchema(schema);
  const validator: Schema = isOwn ? fromJsonSchema(schema) : schema;
  const compiled = toInputSchema(validator, where);
  if (compiled.wrapped) throw refuse(where, "a form must be an object of fields");
  const json = isOwn ? toOwn(schema, where) : toTold(compiled.json, where);
  return {
    json,
    async read(content) {
      try {
        return await checkInput(validator, compiled.codec.decode(content), where);
      } catch (cause) {
        const isUnfit = cause instanceof SurfaceError && cause.code === "VALIDATION_ERROR";
        throw isUnfit ? toUnfit(cause, json) : cause;
      }
    },
  };
}
