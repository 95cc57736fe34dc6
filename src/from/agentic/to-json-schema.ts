import { SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/visible-text.ts";
import { isPlainObject, setOwn, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { listKeywords, mapKeywords, schemaKeywords } from "../../schema/keywords.ts";
import { isRecord } from "../../options/is-object.ts";

type ArrayName = "Uint8Array" | "Int32Array" | "Uint32Array" | "Float32Array" | "Float64Array";

/** JavaScript value that the base64 text of an input becomes. */
export interface BytesForm {
  readonly name: "Blob" | ArrayName;
  /** Media type of a `Blob`; `""` if the schema names none. */
  readonly mediaType: string;
}

const arrays = { Uint8Array, Int32Array, Uint32Array, Float32Array, Float64Array };

/** Outcome of decoding: the value, or the reason why the text was refused. */
type Decoded = { readonly value: unknown } | { readonly problem: string };

const [minInt32, maxInt32, maxUint32] = [-(2 ** 31), 2 ** 31 - 1, 2 ** 32 - 1];

function isWithin(items: object, min: number, max: number): boolean {
  const minimum: unknown = Reflect.get(items, "minimum");
  const maximum: unknown = Reflect.get(items, "maximum");
  return typeof minimum === "number" && typeof maximum === "number" && minimum >= min && maximum <= max;
}

/** Returns the array type in which a typed buffer of `@adobe/data` stores such items; bytes for any but plain numbers. */
function arrayOf(items: unknown): ArrayName {
  if (typeof items !== "object" || items === null || "const" in items || "enum" in items) return "Uint8Array";
  const type: unknown = Reflect.get(items, "type");
  if (type === "number") return Reflect.get(items, "precision") === 1 ? "Float32Array" : "Float64Array";
  if (type !== "integer") return "Uint8Array";
  if (isWithin(items, 0, maxUint32)) return "Uint32Array";
  return isWithin(items, minInt32, maxInt32) ? "Int32Array" : "Float64Array";
}

/** Returns the form of the bytes that a schema declares; `undefined` if it declares none. */
export function bytesFormOf(schema: object): BytesForm | undefined {
  const type: unknown = Reflect.get(schema, "type");
  if (type === "typed-buffer") return { name: arrayOf(Reflect.get(schema, "items")), mediaType: "" };
  if (type !== "blob") return undefined;
  const mediaType: unknown = Reflect.get(schema, "mediaType");
  return { name: "Blob", mediaType: typeof mediaType === "string" ? mediaType : "" };
}

/** Decodes canonical base64: padded, without blanks and without the URL alphabet. */
export function decodeBytes({ name, mediaType }: BytesForm, text: string): Decoded {
  const read = Buffer.from(text, "base64");
  if (read.toString("base64") !== text) return { problem: "expected base64" };
  // A copy, since a small Buffer shares its memory with others.
  const bytes = Uint8Array.from(read);
  if (name === "Blob") return { value: new Blob([bytes], { type: mediaType }) };
  const { BYTES_PER_ELEMENT: size } = arrays[name];
  if (bytes.length % size === 0) return { value: new arrays[name](bytes.buffer) };
  return { problem: `expected ${size} bytes for each item of a ${name}, received ${bytes.length} bytes` };
}

/** Keywords about storage, display and the schema document itself. None restricts a value. */
const dropped: ReadonlySet<string> = new Set([
  ...["layout", "conditionals", "nonPersistent", "nonShared", "partition", "entity", "mutable", "precision"],
  ...["interpolators", "mediaType", "$schema", "$id", "$comment", "$anchor", "$defs", "definitions"],
]);

/** Keywords that refuse no value and may be dropped. */
const notes: ReadonlySet<string> = new Set(["default", "examples"]);

const maxDepth = 64;
const maxNodes = 10_000;
const maxShownBytes = 128;

interface Walk {
  nodes: number;
  depth: number;
}

function fail(problem: string): never {
  throw new SurfaceError("SCHEMA_UNSUPPORTED", `Cannot convert a schema to JSON Schema: ${problem}`);
}

/** Runs `make` one level deeper, within bounds, since a schema may contain itself. */
function deeper<TMade>(walk: Walk, make: () => TMade): TMade {
  walk.depth += 1;
  walk.nodes += 1;
  if (walk.depth > maxDepth) fail(`it is nested more than ${maxDepth} levels deep`);
  if (walk.nodes > maxNodes) fail(`it has more than ${maxNodes} parts`);
  const made = make();
  walk.depth -= 1;
  return made;
}

function mapOf(value: object, make: (part: unknown) => JsonValue | undefined): JsonSchema {
  const made: Record<string, JsonValue> = {};
  for (const [name, part] of Object.entries(value)) {
    const json = make(part);
    if (json !== undefined) setOwn(made, name, json);
  }
  return made;
}

/** Copies JSON; `undefined` for any other value. */
function toData(walk: Walk, value: unknown): JsonValue | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (Array.isArray(value)) {
    const items = deeper(walk, () => value.map((item) => toData(walk, item)));
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  return isRecord(value) && isPlainObject(value)
    ? deeper(walk, () => ({ ...mapOf(value, (part) => toData(walk, part)) }))
    : undefined;
}

function toPart(walk: Walk, schema: unknown): JsonValue {
  if (typeof schema === "boolean") return schema;
  return isRecord(schema) ? { ...toSchema(walk, schema) } : fail("a part of it is not a schema");
}

function toParts(walk: Walk, keyword: string, value: unknown): JsonValue | undefined {
  if (schemaKeywords.has(keyword)) return toPart(walk, value);
  if (listKeywords.has(keyword) && Array.isArray(value)) return value.map((part) => toPart(walk, part));
  if (mapKeywords.has(keyword) && isRecord(value)) return { ...mapOf(value, (part) => toPart(walk, part)) };
  return toData(walk, value);
}

function addKeyword(walk: Walk, json: Record<string, JsonValue>, [keyword, value]: readonly [string, unknown]): void {
  // Functions are for programs that draw or store values.
  if (dropped.has(keyword) || value === undefined || typeof value === "function") return;
  if (keyword.startsWith("$")) fail(`"${clipText(keyword, maxShownBytes)}" is not supported`);
  const made = toParts(walk, keyword, value);
  if (made !== undefined) setOwn(json, keyword, made);
  else if (!notes.has(keyword)) fail(`"${clipText(keyword, maxShownBytes)}" must be JSON`);
}

function toSchema(walk: Walk, schema: object): JsonSchema {
  return deeper(walk, () => {
    const json: Record<string, JsonValue> = {};
    for (const entry of Object.entries(schema)) addKeyword(walk, json, entry);
    const media: unknown = Reflect.get(schema, "mediaType");
    if (typeof media === "string") json["contentMediaType"] ??= media;
    const form = bytesFormOf(schema);
    if (form === undefined) return json;
    // The text has no items, so the description tells the model how they are stored.
    const { items, ...words } = json;
    if (items !== undefined) {
      const { description } = words;
      words["description"] = `${typeof description === "string" ? `${description}: ` : ""}the bytes of a ${form.name}`;
    }
    return { ...words, type: "string", contentEncoding: "base64" };
  });
}

/**
 * Converts a schema of an agentic service to plain JSON Schema. Drops keywords about storage and display, turns bytes into base64
 * text, and keeps everything else. Does not change the schema.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` for references, values that are not JSON, and schemas that contain themselves.
 */
export function toJSONSchema(schema: object): JsonSchema {
  return toSchema({ nodes: 0, depth: 0 }, schema);
}
