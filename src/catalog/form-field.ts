import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";

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
export function toFormField(json: JsonSchema): JsonObject | undefined {
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
