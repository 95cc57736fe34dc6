import { SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/clip-text.ts";
import type { JsonSchema, JsonValue } from "../../schema/json.ts";
import { listKeywords, mapKeywords, schemaKeywords } from "../../schema/keywords.ts";
import { setOwn } from "../../schema/set-own.ts";

/** What says how values are kept or drawn, and nothing of what they are; and what is said to readers of the schema alone. */
const dropped: ReadonlySet<string> = new Set([
  ...["layout", "conditionals", "nonPersistent", "nonShared", "partition", "entity", "mutable", "precision"],
  ...["interpolators", "mediaType", "$schema", "$id", "$comment", "$anchor", "$defs", "definitions"],
]);

/** Types that JSON has as a text. */
const bytes: ReadonlySet<unknown> = new Set(["typed-buffer", "blob"]);

/** What refuses no value, and may be left out. */
const notes: ReadonlySet<string> = new Set(["default", "examples"]);

const maxDepth = 64;
const maxNodes = 10_000;
const maxShownBytes = 128;

interface Walk {
  nodes: number;
  depth: number;
}

function fail(problem: string): never {
  throw new SurfaceError("SCHEMA_UNSUPPORTED", `Converting a schema to JSON Schema: ${problem}`);
}

/** Runs one level deeper, within bounds: a schema may hold itself. */
function deeper<TMade>(walk: Walk, make: () => TMade): TMade {
  walk.depth += 1;
  walk.nodes += 1;
  if (walk.depth > maxDepth) fail(`it is nested more than ${maxDepth} levels deep`);
  if (walk.nodes > maxNodes) fail(`it has more than ${maxNodes} parts`);
  const made = make();
  walk.depth -= 1;
  return made;
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function mapOf(value: object, make: (part: unknown) => JsonValue | undefined): JsonSchema {
  const made: Record<string, JsonValue> = {};
  for (const [name, part] of Object.entries(value)) {
    const json = make(part);
    if (json !== undefined) setOwn(made, name, json);
  }
  return made;
}

/** JSON, copied; `undefined` for what is none. */
function toData(walk: Walk, value: unknown): JsonValue | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (Array.isArray(value)) {
    const items = deeper(walk, () => value.map((item) => toData(walk, item)));
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  return isRecord(value) && isPlain(value)
    ? deeper(walk, () => ({ ...mapOf(value, (part) => toData(walk, part)) }))
    : undefined;
}

function toPart(walk: Walk, schema: unknown): JsonValue {
  if (typeof schema === "boolean") return schema;
  return isRecord(schema) ? { ...toSchema(walk, schema) } : fail("a part of it is no schema");
}

function toParts(walk: Walk, keyword: string, value: unknown): JsonValue | undefined {
  if (schemaKeywords.has(keyword)) return toPart(walk, value);
  if (listKeywords.has(keyword) && Array.isArray(value)) return value.map((part) => toPart(walk, part));
  if (mapKeywords.has(keyword) && isRecord(value)) return { ...mapOf(value, (part) => toPart(walk, part)) };
  return toData(walk, value);
}

function addKeyword(walk: Walk, json: Record<string, JsonValue>, [keyword, value]: readonly [string, unknown]): void {
  // Functions are those of programs that draw or keep values.
  if (dropped.has(keyword) || value === undefined || typeof value === "function") return;
  if (keyword.startsWith("$")) fail(`"${clipText(keyword, maxShownBytes)}" is not supported`);
  const made = toParts(walk, keyword, value);
  if (made !== undefined) setOwn(json, keyword, made);
  else if (!notes.has(keyword)) fail(`"${clipText(keyword, maxShownBytes)}" holds what is no JSON`);
}

function toSchema(walk: Walk, schema: object): JsonSchema {
  return deeper(walk, () => {
    const json: Record<string, JsonValue> = {};
    for (const entry of Object.entries(schema)) addKeyword(walk, json, entry);
    const media: unknown = Reflect.get(schema, "mediaType");
    if (typeof media === "string") json["contentMediaType"] ??= media;
    if (bytes.has(json["type"])) Object.assign(json, { type: "string", contentEncoding: "base64" });
    return json;
  });
}

/**
 * Turns a schema of an agentic service into plain JSON Schema: what only says how values are kept or drawn is left out, bytes are
 * a text in base64, everything else stays. The schema is left as it is, and what is JSON Schema already comes out the same.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` for references, for what is no JSON, and for what has no end.
 */
export function toJSONSchema(schema: object): JsonSchema {
  return toSchema({ nodes: 0, depth: 0 }, schema);
}
