import { Refusal, SurfaceError } from "../../errors.ts";
import { toInputSchema } from "../../schema/compile-schema.ts";
import { fromJsonSchema } from "../../schema/validator/from-json-schema.ts";
import { isJsonObject, setOwn, type JsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { isInvalidSchema, isSchema, describeInvalidSchema, type Schema } from "../../schema/standard.ts";
import { checkInput } from "../../surface/check-value.ts";
import type { AskSchema } from "./asking.ts";

const formats: ReadonlySet<string> = new Set(["email", "uri", "date", "date-time"]);

/** The keywords that fields of every type have. */
const common = ["title", "description", "default"] as const;

function keep(json: JsonSchema, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([key]) => keys.includes(key)));
}

/** Returns an alternative that is one constant text, with its title. */
function toTitled(option: JsonValue): JsonObject | undefined {
  if (!isJsonObject(option)) return undefined;
  const { const: value, enum: values } = option;
  const [only = value] = Array.isArray(values) && values.length === 1 ? values : [];
  const { title = only } = option;
  return typeof only === "string" && typeof title === "string" ? { const: only, title } : undefined;
}

/** Returns the choice of one text, without or with titles; `undefined` for another schema. */
function toChoice(json: JsonSchema, titledKey: "oneOf" | "anyOf"): JsonObject | undefined {
  const { const: only, enum: values } = json;
  const texts = typeof only === "string" ? [only] : values;
  if (Array.isArray(texts) && texts.length > 0 && texts.every((value) => typeof value === "string")) {
    return { type: "string", enum: texts };
  }
  const options: JsonValue | undefined = json["oneOf"] ?? json["anyOf"];
  if (!Array.isArray(options) || options.length === 0) return undefined;
  const titled = options.flatMap((option: JsonValue) => toTitled(option) ?? []);
  return titled.length === options.length ? { [titledKey]: titled } : undefined;
}

function toText(json: JsonSchema): JsonObject {
  const { format } = json;
  // The protocol knows no other formats. The schema still validates them.
  const known = typeof format === "string" && formats.has(format) ? { format } : {};
  return { type: "string", ...keep(json, [...common, "minLength", "maxLength"]), ...known };
}

function toList(json: JsonSchema): JsonObject | undefined {
  const items = isJsonObject(json["items"]) ? toChoice(json["items"], "anyOf") : undefined;
  return items && { type: "array", ...keep(json, [...common, "minItems", "maxItems"]), items };
}

/**
 * Returns one field of a form in the protocol's subset of JSON Schema: a text, a number, true or false, one or several of a choice of
 * texts; `undefined` for another schema. The schema still validates the keywords that are left out.
 */
function toFormField(json: JsonSchema): JsonObject | undefined {
  const choice = toChoice(json, "oneOf");
  if (choice !== undefined) return { type: "string", ...keep(json, common), ...choice };
  // The protocol has only choices of texts.
  if ("enum" in json || "const" in json) return undefined;
  switch (json["type"]) {
    case "string":
      return toText(json);
    case "number":
    case "integer":
      return { type: json["type"], ...keep(json, [...common, "minimum", "maximum"]) };
    case "boolean":
      return { type: "boolean", ...keep(json, common) };
    case "array":
      return toList(json);
    default:
      return undefined;
  }
}

/** A form that a user fills in. */
interface AskForm {
  /** Its `requestedSchema`: a flat object. */
  readonly json: JsonObject;
  /** Validates the answer. Rejects with a `Refusal` `ASK_FAILED` naming the fields that do not fit. */
  read(content: JsonObject): Promise<unknown>;
}

function refuse(where: string, why: string): SurfaceError {
  return new SurfaceError("SCHEMA_UNSUPPORTED", `${where}: ${why}`);
}

function fieldsOf(json: JsonSchema, where: string): readonly (readonly [name: string, field: JsonObject])[] {
  const { type, properties = {} } = json;
  if (type !== "object" || !isJsonObject(properties)) throw refuse(where, "a form must be an object of fields");
  return Object.entries(properties).map(([name, field]) => {
    const formField = isJsonObject(field) ? toFormField(field) : undefined;
    if (formField !== undefined) return [name, formField];
    throw refuse(
      where,
      `field "${name}" must be a text, a number, true or false, or a choice of texts: forms are flat`,
    );
  });
}

/** Returns a JSON Schema as its author wrote it. */
function copyOf(schema: JsonSchema, where: string): JsonObject {
  fieldsOf(schema, where);
  // JSON alone, and a copy.
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}

function toFormJson(json: JsonSchema, where: string): JsonObject {
  const properties: JsonObject = {};
  for (const [name, field] of fieldsOf(json, where)) setOwn(properties, name, field);
  const { required } = json;
  const isRequired = Array.isArray(required) && required.length > 0;
  return { type: "object", properties, ...(isRequired ? { required } : {}) };
}

/** Names the fields that do not fit, and quotes nothing of the answer. */
function toUnfit(cause: SurfaceError, json: JsonObject): Refusal {
  const { properties = {} } = json;
  const fields = Object.keys(properties ?? {}).filter((name) =>
    cause.issues.some(({ path }) => path === name || path.startsWith(`${name}.`)),
  );
  const named = fields.map((name) => JSON.stringify(name)).join(", ");
  const which = fields.length === 0 ? "" : `: ${named} ${fields.length === 1 ? "does" : "do"} not fit the form`;
  return new Refusal("ASK_FAILED", `the answer to the form is invalid${which}`);
}

/**
 * Reads the schema of a form.
 *
 * @param where - names the question in errors, for example `Asking "target"`.
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming the first field that is not possible in a form.
 */
export function toAskForm(schema: AskSchema, where: string): AskForm {
  if (isInvalidSchema(schema)) throw refuse(where, describeInvalidSchema(schema));
  const isOwn = !isSchema(schema);
  const validator: Schema = isOwn ? fromJsonSchema(schema) : schema;
  const compiled = toInputSchema(validator, where);
  if (compiled.wrapped) throw refuse(where, "a form must be an object of fields");
  const json = isOwn ? copyOf(schema, where) : toFormJson(compiled.json, where);
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
