import { SurfaceError } from "../../errors.ts";
import { compileSchema } from "../compile-schema.ts";
import { isJsonObject, jsonTypeOf } from "../json.ts";
import type { JsonSchema, JsonValue } from "../json.ts";
import { ownVendor } from "../read-standard.ts";
import { anyCodec } from "../wire-codec.ts";
import type { SchemaWithJson } from "../standard.ts";
import { assertJsonSchema } from "./assert-json-schema.ts";
import { addFault, addIssue, createCheckWalk } from "./check-walk.ts";
import type { Check, CheckWalk } from "./check-walk.ts";
import { compileCheck } from "./compile-check.ts";

/** A JSON Schema that validates. */
export type JsonValidator = SchemaWithJson<JsonValue, JsonValue>;

// Characters of JSON.
const maxLength = 1_048_576;

const made = new WeakMap<JsonSchema, JsonValidator>();

/**
 * Creates a validator that accepts the values of a JSON Schema (2020-12) to the letter. It does not change values, and treats
 * defaults and formats as annotations. The schema is copied when it is first converted, which throws `SCHEMA_UNSUPPORTED` for
 * keywords that are not implemented. The same object gives the same validator.
 */
export function fromJsonSchema(json: JsonSchema): JsonValidator {
  const known = made.get(json);
  if (known !== undefined) return known;
  const schema = createValidator(json);
  made.set(json, schema);
  return schema;
}

function createValidator(json: JsonSchema): JsonValidator {
  let document: JsonSchema | undefined;
  let check: Check | undefined;
  const toDocument = (): JsonSchema => (document ??= copySchema(json));
  const fits = (wire: JsonValue, walk: CheckWalk): boolean => {
    try {
      check ??= compileCheck(toDocument(), { isExact: true });
      return check(wire, walk);
    } catch (fault) {
      return addFault(walk, fault);
    }
  };
  const schema: JsonValidator = {
    "~standard": {
      version: 1,
      vendor: ownVendor,
      validate(value) {
        // Before the value is looked at: a schema that cannot be converted is refused for every value.
        const { wrapped } = compileSchema(schema, "input", "a value");
        const wire = toJson(value);
        const walk = createCheckWalk(wire);
        if (wire === undefined)
          addIssue(walk, `expected ${value === undefined ? "a value, received nothing" : "JSON"}`);
        else if (!isJsonObject(wire) && !wrapped) {
          addIssue(walk, `expected object, received ${jsonTypeOf(wire)}`);
        } else if (fits(wire, walk)) return { value: wire };
        // One segment: it is a path already, bounded.
        return {
          issues: walk.issues.map(({ path, message }) => ({ message, ...(path === "" ? {} : { path: [path] }) })),
        };
      },
      jsonSchema: { input: () => ({ ...toDocument() }), output: () => ({ ...toDocument() }) },
    },
  };
  return schema;
}

/** Copies a schema, so that later changes of it have no effect. */
function copySchema(json: JsonSchema): JsonSchema {
  const text = JSON.stringify(json);
  if (text.length > maxLength) {
    throw new SurfaceError("SCHEMA_UNSUPPORTED", `it is more than ${maxLength} characters long`);
  }
  const copy: unknown = JSON.parse(text);
  if (!isJsonObject(copy)) throw new SurfaceError("SCHEMA_UNSUPPORTED", "it must be an object");
  assertJsonSchema(copy);
  return copy;
}

/** Returns the wire form of a value, or undefined. */
function toJson(value: unknown): JsonValue | undefined {
  if (value === undefined) return undefined;
  try {
    return anyCodec.encode(value);
  } catch {
    return undefined;
  }
}
