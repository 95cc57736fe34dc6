import { SurfaceError } from "../errors.ts";
import { clipText } from "./clip-text.ts";
import { isJsonObject, type JsonSchema, type JsonValue } from "./json.ts";
import { keywordProblem, type KeywordTotals } from "./json-schema-keywords.ts";
import { listKeywords, mapKeywords, schemaKeywords } from "./keywords.ts";
import { createSchemaDocument, type SchemaDocument } from "./schema-document.ts";

// The limits of what agents are shown: beyond them they would read that anything goes.
const maxNodes = 10_000;
const maxDepth = 64;
const maxShownBytes = 128;

interface Walk {
  readonly document: SchemaDocument;
  readonly root: JsonSchema;
  readonly path: string[];
  readonly seen: Set<unknown>;
  readonly totals: KeywordTotals;
}

function fail(walk: Walk, problem: string): never {
  const at = clipText(walk.path.join("."), maxShownBytes);
  throw new SurfaceError(
    "SCHEMA_UNSUPPORTED",
    `at "${at === "" ? "(root)" : at}": ${clipText(problem, 2 * maxShownBytes)}`,
  );
}

function assertNode(walk: Walk, node: unknown): void {
  if (!isJsonObject(node) || walk.seen.has(node)) return;
  walk.seen.add(node);
  if (walk.seen.size > maxNodes) fail(walk, `it has more than ${maxNodes} parts`);
  if (walk.path.length > maxDepth * 2) fail(walk, `it is nested more than ${maxDepth} levels deep`);
  for (const [keyword, value] of Object.entries(node)) {
    const problem = keywordProblem(keyword, value, walk.totals);
    if (problem !== undefined) fail(walk, problem);
    if (keyword === "$id" && node !== walk.root) fail(walk, '"$id" is supported at the root only');
    walk.path.push(keyword);
    assertParts(walk, keyword, value);
    walk.path.pop();
  }
}

function assertParts(walk: Walk, keyword: string, value: JsonValue | undefined): void {
  if (schemaKeywords.has(keyword)) return assertNode(walk, value);
  if (listKeywords.has(keyword) && Array.isArray(value)) return assertNamed(walk, Object.entries(value));
  const isMap = mapKeywords.has(keyword) || keyword === "$defs" || keyword === "definitions";
  if (isMap && isJsonObject(value)) return assertNamed(walk, Object.entries(value));
  // What a reference leads to may be anywhere, also where no schema stands by itself.
  if (keyword === "$ref" && typeof value === "string") assertNode(walk, targetOf(walk, value));
}

function assertNamed(walk: Walk, parts: readonly (readonly [string, JsonValue | undefined])[]): void {
  for (const [name, part] of parts) {
    walk.path.push(name);
    assertNode(walk, part);
    walk.path.pop();
  }
}

function targetOf(walk: Walk, ref: string): unknown {
  try {
    return walk.document.resolve(ref, walk.root).node;
  } catch (cause) {
    if (!(cause instanceof SurfaceError)) throw cause;
    return fail(walk, cause.message);
  }
}

/**
 * Refuses a JSON Schema that says something which would not be held to the letter: what was left out would let values pass
 * that its author does not expect. Formats are notes, as the dialect has it, and so are keywords that it does not know.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming the place and the keyword.
 */
export function assertJsonSchema(root: JsonSchema): void {
  assertNode({ document: createSchemaDocument(root), root, path: [], seen: new Set(), totals: { patterns: 0 } }, root);
}
