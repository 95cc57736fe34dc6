import { SurfaceError, type Issue } from "../errors.ts";
import { assertJsonSchema } from "./assert-json-schema.ts";
import { compileCheck } from "./compile-check.ts";
import { compileSchema } from "./compile-schema.ts";
import { isJsonObject, jsonTypeOf, type JsonSchema, type JsonValue } from "./json.ts";
import { createReceiveWalk, refuse, TooManySteps } from "./receive-walk.ts";
import type { Check, ReceiveWalk } from "./receive-walk.ts";
import { anyCodec } from "./wire-codec.ts";
import type { SchemaWithJson } from "./with-json-schema.ts";

/** A JSON Schema that validates. */
export type JsonValidator = SchemaWithJson<JsonValue, JsonValue>;

type Checked = { readonly value: JsonValue } | { readonly issues: readonly Issue[] };

const maxLength = 1_048_576;

const made = new WeakMap<JsonSchema, JsonValidator>();

/** Copies a schema, so that later changes of it have no effect. */
function toDocument(json: JsonSchema): JsonSchema {
  const text = JSON.stringify(json);
  if (text.length > maxLength) {
    throw new SurfaceError("SCHEMA_UNSUPPORTED", `it is more than ${maxLength} characters long`);
  }
  const document: unknown = JSON.parse(text);
  if (!isJsonObject(document)) throw new SurfaceError("SCHEMA_UNSUPPORTED", "it must be an object");
  assertJsonSchema(document);
  return document;
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

/** Refuses a value for the check itself, also while an alternative is tried. Earlier issues may be those of its parts. */
function refuseAlone(walk: ReceiveWalk, message: string): false {
  walk.issues.length = 0;
  walk.quiet = false;
  return refuse(walk, message);
}

class JsonSchemaValidator {
  readonly #json: JsonSchema;
  #document: JsonSchema | undefined;
  #check: Check | undefined;

  constructor(json: JsonSchema) {
    this.#json = json;
  }

  document(): JsonSchema {
    return (this.#document ??= toDocument(this.#json));
  }

  /** @param isRoot - whether the value travels by itself, and not under a key: then it has to be an object. */
  validate(value: unknown, isRoot: boolean): Checked {
    const json = toJson(value);
    const walk = createReceiveWalk(json);
    if (json === undefined) refuse(walk, value === undefined ? "expected a value, received nothing" : "expected JSON");
    else if (isRoot && !isJsonObject(json)) refuse(walk, `expected object, received ${jsonTypeOf(json)}`);
    else if (this.#run(json, walk)) return { value: json };
    return { issues: walk.issues };
  }

  #run(json: JsonValue, walk: ReceiveWalk): boolean {
    try {
      this.#check ??= compileCheck(this.document(), { isExact: true });
      return this.#check(json, walk);
    } catch (fault) {
      if (fault instanceof TooManySteps) return refuseAlone(walk, fault.message);
      if (!(fault instanceof RangeError)) throw fault;
      walk.path.length = 0;
      return refuseAlone(walk, "nested too deep");
    }
  }
}

function toSchema(json: JsonSchema): JsonValidator {
  const validator = new JsonSchemaValidator(json);
  const schema: JsonValidator = {
    "~standard": {
      version: 1,
      vendor: "surface-mcp",
      validate(value) {
        const checked = validator.validate(value, !compileSchema(schema, "input", "a value").wrapped);
        if ("value" in checked) return checked;
        // One segment: it is a path already, bounded.
        return {
          issues: checked.issues.map(({ path, message }) => ({ message, ...(path === "" ? {} : { path: [path] }) })),
        };
      },
      jsonSchema: { input: () => ({ ...validator.document() }), output: () => ({ ...validator.document() }) },
    },
  };
  return schema;
}

/**
 * Creates a validator that accepts the values of a JSON Schema (2020-12) to the letter. It does not change values, and treats
 * defaults and formats as annotations. The schema is copied when it is first converted, which throws `SCHEMA_UNSUPPORTED` for
 * keywords that are not implemented. The same object gives the same validator.
 */
export function fromJsonSchema(json: JsonSchema): JsonValidator {
  const known = made.get(json);
  if (known !== undefined) return known;
  const schema = toSchema(json);
  made.set(json, schema);
  return schema;
}
