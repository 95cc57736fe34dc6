import { listOf, textOfBytes, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { isSensitive, listKeywords } from "../schema/keywords.ts";
import { isJsonObject, setOwn, type JsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import { clipText } from "../schema/visible-text.ts";

/** Returns a value without secrets, for records. `schema` is that of the arguments or the result. Errors leave the value out. */
export type Redactor = (value: JsonValue, schema: JsonSchema | undefined) => JsonValue;

/** Options of {@link redactSecrets}. */
export interface RedactOptions {
  /** Further names of secret fields. Case, `-`, `_` and other punctuation do not matter. */
  readonly names?: readonly string[];
}

/** The value of a secret field. */
const redacted = "[redacted]";
const omitted = "[omitted]";

const maxDepth = 16;
const maxValues = 1000;
const maxTextBytes = 2048;
const maxNameBytes = 128;
/** The length of the longest text that is read as JSON. */
const maxJsonLength = 65_536;

/** Names of secret fields, in lower case and without punctuation. */
const secretName =
  /passw(?:or)?d|passphrase|pwd$|secret|authorization|apikey|privatekey|accesskey|credential|cookie|tokens?\d*$|^(?:bearer|jwt|otp|pin)$/;

function normalise(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

const optionFields: OptionFields<RedactOptions> = {
  names: listOf(textOfBytes(maxNameBytes), "a list of texts"),
};

/** Follows a schema to the parts that describe a value. */
class SchemaReader {
  readonly #root: JsonSchema;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  /** Returns the schemas that may describe one value: those given, and those that they combine or refer to. */
  expand(schemas: Iterable<unknown>): readonly JsonObject[] {
    const found = new Set<JsonObject>();
    const queue: unknown[] = [...schemas];
    for (const schema of queue) {
      if (!isJsonObject(schema) || found.has(schema)) continue;
      found.add(schema);
      for (const key of listKeywords)
        if (key !== "prefixItems" && Array.isArray(schema[key])) queue.push(...schema[key]);
      queue.push(schema["if"], schema["then"], schema["else"], this.#target(schema["$ref"]));
      if (isJsonObject(schema["dependentSchemas"])) queue.push(...Object.values(schema["dependentSchemas"]));
    }
    return [...found];
  }

  #target(ref: unknown): unknown {
    if (typeof ref !== "string" || !ref.startsWith("#")) return undefined;
    let at: unknown = this.#root;
    for (const step of ref.slice(1).split("/").slice(1)) {
      const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
      at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    }
    return at;
  }
}

/** Returns whether a schema marks its values, or the names of their fields, as secret. */
function isSecretSchema(schema: JsonObject): boolean {
  const { propertyNames } = schema;
  return isSensitive(schema) || (isJsonObject(propertyNames) && isSensitive(propertyNames));
}

/** Returns the schemas of a field: by name, by pattern, or for all other fields. */
function* schemasOfField(schemas: readonly JsonObject[], name: string): Iterable<unknown> {
  for (const schema of schemas) {
    const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
    if (isJsonObject(properties) && Object.hasOwn(properties, name)) yield properties[name];
    // Every pattern counts: to run an author's expression on a caller's name may take long.
    if (isJsonObject(patternProperties)) yield* Object.values(patternProperties);
    yield additionalProperties;
    yield unevaluatedProperties;
  }
}

function* schemasOfItem(schemas: readonly JsonObject[]): Iterable<unknown> {
  for (const { items, prefixItems, contains, unevaluatedItems } of schemas) {
    yield* [items, contains, unevaluatedItems];
    if (Array.isArray(prefixItems)) yield* prefixItems;
  }
}

/** One value on its way into a record. */
class Redaction {
  readonly #isSecret: (name: string) => boolean;
  readonly #reader: SchemaReader;
  #left = maxValues;

  constructor(isSecret: (name: string) => boolean, schema: JsonSchema) {
    this.#isSecret = isSecret;
    this.#reader = new SchemaReader(schema);
  }

  copy(value: JsonValue, given: Iterable<unknown>, depth = 0): JsonValue {
    const schemas = this.#reader.expand(given);
    if (schemas.some(isSecretSchema)) return this.#redact();
    this.#left -= 1;
    if (this.#left < 0 || depth > maxDepth) return omitted;
    if (typeof value === "string") return this.#copyText(value, schemas, depth);
    if (Array.isArray(value)) return this.#copyList(value, schemas, depth);
    return isJsonObject(value) ? this.#copyFields(value, schemas, depth) : value;
  }

  #redact(): string {
    this.#left -= 1;
    return redacted;
  }

  #copyList(list: readonly JsonValue[], schemas: readonly JsonObject[], depth: number): JsonValue {
    const items = [...schemasOfItem(schemas)];
    const copy: JsonValue[] = [];
    for (const item of list) {
      if (this.#left <= 0) return [...copy, omitted];
      copy.push(this.copy(item, items, depth + 1));
    }
    return copy;
  }

  #copyFields(fields: JsonObject, schemas: readonly JsonObject[], depth: number): JsonObject {
    const copy: JsonObject = {};
    for (const [name, value] of Object.entries(fields)) {
      if (this.#left <= 0) {
        copy[omitted] = true;
        break;
      }
      const isSecret = this.#isSecret(name);
      const shown = isSecret ? this.#redact() : this.copy(value, schemasOfField(schemas, name), depth + 1);
      setOwn(copy, clipText(name, maxNameBytes), shown);
    }
    return copy;
  }

  /** Copies a text. JSON within a text may have secret names, too. */
  #copyText(text: string, schemas: readonly JsonObject[], depth: number): string {
    if (!/^\s*[[{]/.test(text)) return clipText(text, maxTextBytes);
    if (text.length > maxJsonLength) return omitted;
    try {
      // The result of JSON.parse() is JSON.
      const json = JSON.parse(text) as JsonValue;
      return clipText(
        JSON.stringify(
          this.copy(
            json,
            schemas.map(({ contentSchema }) => contentSchema),
            depth + 1,
          ),
        ),
        maxTextBytes,
      );
    } catch {
      return clipText(text, maxTextBytes);
    }
  }
}

/**
 * Creates the redactor for the `values` of an observer. It replaces the values of secret fields by `"[redacted]"`, at every depth:
 *
 * - fields whose schema has `sensitive: true`, `"x-sensitive": true`, `writeOnly: true` or `format: "password"`, in zod by `.meta()`,
 * - fields with a secret name, such as `password`, `apiKey`, `cookie` or `access_token`, also in JSON within texts.
 *
 * In a schema with a secret, parts that agents see shortened, such as the second level of a recursive schema, are secret as a whole.
 *
 * Other texts stay as they are, so do not record values of tools that carry secrets in free text. Copies are bounded: 1,000 values,
 * 16 levels, 2 KiB a text.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function redactSecrets(options: RedactOptions = {}): Redactor {
  const { names = [] } = readOptions(options, optionFields, "Cannot redact values");
  const own = new Set(names.map(normalise));
  const isSecret = (name: string): boolean => {
    const plain = normalise(name);
    return own.has(plain) || secretName.test(plain);
  };
  return (value, schema = {}) => new Redaction(isSecret, schema).copy(value, [schema]);
}
