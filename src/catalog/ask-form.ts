import { Refusal, SurfaceError } from "../errors.ts";
import { fromJsonSchema } from "../schema/from-json-schema.ts";
import { isJsonObject, setOwn } from "../schema/json.ts";
import type { JsonObject, JsonSchema } from "../schema/json.ts";
import { isBrokenSchema, isSchema, whyNoSchema, type Schema } from "../schema/standard.ts";
import { toInputSchema } from "../schema/compile-schema.ts";
import { checkInput } from "../surface/check-value.ts";
import type { AskSchema } from "./asking.ts";
import { toFormField } from "./form-field.ts";

/** A form that a user fills in. */
export interface AskForm {
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
