import { isRecord } from "../../options/is-object.ts";
import { isJsonObject, setOwn, type JsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { copySchemas, definitionKeywords } from "../../schema/keywords.ts";
import { maxSchemaDepth, maxSchemaNodes, toJsonData } from "../../schema/schema-document.ts";
import { compileLinearPattern } from "../../schema/validator/linear-pattern.ts";
import { clipText } from "../../schema/visible-text.ts";
import { fieldsIn, partOf, resolve, targetOf, unsupported, type DocumentReader } from "./document.ts";

/** Bytes of a description, which a model reads. */
export const maxTextBytes = 2048;

// `x-…` fields are not dropped by name: see isDropped().
const dropped: ReadonlySet<string> = new Set([
  ...["$schema", "discriminator", "xml", "externalDocs", "example", "nullable"],
  ...definitionKeywords,
]);

function isDropped(key: string, value: unknown): boolean {
  if (key.startsWith("x-") || dropped.has(key)) return true;
  // The API checks its own patterns. One that could hang this process is not run here.
  return key === "pattern" && typeof value === "string" && compileLinearPattern(value).reason !== undefined;
}

function toExclusive(copy: Record<string, JsonValue>, bound: string, exclusive: string): void {
  const isExclusive = copy[exclusive];
  if (typeof isExclusive !== "boolean") return;
  delete copy[exclusive];
  if (!isExclusive || copy[bound] === undefined) return;
  copy[exclusive] = copy[bound];
  delete copy[bound];
}

function toNullable(copy: Record<string, JsonValue>): Record<string, JsonValue> {
  const { type, enum: values } = copy;
  if (typeof type !== "string") return { anyOf: [copy, { type: "null" }] };
  const withNull = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {};
  return { ...copy, type: [type, "null"], ...withNull };
}

/** Rewrites the keywords that OpenAPI 3.0 has and JSON Schema 2020-12 has not. @param node - the original. */
function upgrade(copy: Record<string, JsonValue>, node: unknown): Record<string, JsonValue> {
  toExclusive(copy, "minimum", "exclusiveMinimum");
  toExclusive(copy, "maximum", "exclusiveMaximum");
  return partOf(node, "nullable") === true ? toNullable(copy) : copy;
}

/**
 * Converts schemas of one operation to JSON Schema 2020-12. Schemas behind references are copied once, also those of circles, and no
 * others.
 */
export class SchemaConverter {
  readonly #reader: DocumentReader;
  /** The fields that this side never has: agents do not send what only the API writes, and the reverse. */
  readonly #absent: "readOnly" | "writeOnly";
  readonly #names = new Map<string, string>();
  readonly #definitions: Record<string, JsonValue> = {};
  #nodes = 0;

  /** The document. */
  get root(): object {
    return this.#reader.root;
  }

  constructor(reader: DocumentReader, side: "input" | "output") {
    this.#reader = reader;
    this.#absent = side === "input" ? "readOnly" : "writeOnly";
  }

  /** Converts one schema. Its references hold within {@link withDefinitions}. @throws SurfaceError `SCHEMA_UNSUPPORTED`. */
  convert(node: unknown, depth = 0): JsonObject {
    if (typeof node === "boolean") return node ? {} : { not: {} };
    if (!isRecord(node)) throw unsupported("a schema is not an object");
    this.#nodes += 1;
    if (this.#nodes > maxSchemaNodes || depth > maxSchemaDepth) {
      throw unsupported("a schema is too large, nested too deep, or an object that contains itself");
    }
    const { is30 } = this.#reader;
    const ref = partOf(node, "$ref");
    // In OpenAPI 3.0 nothing beside a reference counts.
    if (ref !== undefined && is30) return { $ref: this.#refer(ref) };
    const copy = this.#copyKeywords(node, depth);
    this.#dropAbsent(copy, node);
    return is30 ? upgrade(copy, node) : copy;
  }

  #copyKeywords(node: object, depth: number): Record<string, JsonValue> {
    const copy: Record<string, JsonValue> = {};
    for (const [key, value] of fieldsIn(node)) {
      if (isDropped(key, value)) continue;
      const copied = key === "$ref" ? this.#refer(value) : this.#copyKeyword(key, value, depth);
      if (copied !== undefined) setOwn(copy, key, copied);
    }
    return copy;
  }

  /** Returns a schema with the definitions that it refers to. */
  withDefinitions(schema: JsonObject): JsonSchema {
    // Converting one adds those that it refers to. A map visits them too.
    for (const [ref, name] of this.#names) this.#definitions[name] = this.convert(targetOf(this.root, ref));
    return this.#names.size === 0 ? schema : { ...schema, $defs: this.#definitions };
  }

  #copyKeyword(key: string, value: unknown, depth: number): JsonValue | undefined {
    if ((key === "description" || key === "title") && typeof value === "string") return clipText(value, maxTextBytes);
    return copySchemas({ key, value }, (schema) => this.convert(schema, depth + 1)) ?? toJsonData(value);
  }

  #refer(ref: unknown): string {
    if (typeof ref !== "string") throw unsupported('"$ref" is not a text');
    const name = this.#names.get(ref) ?? `d${this.#names.size}`;
    this.#names.set(ref, name);
    return `#/$defs/${name}`;
  }

  #dropAbsent(copy: Record<string, JsonValue>, node: object): void {
    const { properties, required } = copy;
    const isAbsent = (name: unknown): boolean =>
      typeof name === "string" &&
      partOf(resolve(this.root, partOf(partOf(node, "properties"), name)), this.#absent) === true;
    if (isJsonObject(properties)) {
      copy["properties"] = Object.fromEntries(Object.entries(properties).filter(([name]) => !isAbsent(name)));
    }
    if (Array.isArray(required)) copy["required"] = required.filter((name) => !isAbsent(name));
  }
}
