import { SurfaceError } from "../errors.ts";
import { clipText } from "./visible-text.ts";
import { isJsonObject } from "./json.ts";
import type { JsonSchema, JsonValue } from "./json.ts";
import {
  definitionKeywords,
  keywordOrder,
  listKeywords,
  mapKeywords,
  schemaKeywords,
  standardTypes,
} from "./keywords.ts";
import { compileLinearPattern } from "./linear-pattern.ts";
import { SchemaDocument } from "./schema-document.ts";
import { maxSchemaDepth, maxSchemaNodes } from "./schema-node.ts";
import { wireKey } from "./wire-forms.ts";

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
  if (walk.seen.size > maxSchemaNodes) fail(walk, `it has more than ${maxSchemaNodes} parts`);
  if (walk.path.length > maxSchemaDepth * 2) fail(walk, `it is nested more than ${maxSchemaDepth} levels deep`);
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
  const isMap = mapKeywords.has(keyword) || definitionKeywords.has(keyword);
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
 * Refuses a JSON Schema with a keyword that the checks do not implement to the letter: without it they would accept values that its
 * author does not expect. Formats and unknown keywords are annotations, as in the dialect.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming the place and the keyword.
 */
export function assertJsonSchema(root: JsonSchema): void {
  assertNode({ document: new SchemaDocument(root), root, path: [], seen: new Set(), totals: { patterns: 0 } }, root);
}

/** The condition of a keyword's value. `need` completes `must be …`. */
interface ValueRule {
  readonly need: string;
  readonly holds: (value: JsonValue) => boolean;
}

// Longer than any pattern written by hand.
const maxPatternLength = 1024;
const maxShownPatternBytes = 64;
// Instructions of all patterns of a schema: a thousand patterns of the largest that people write, or 50 MB.
const maxPatternTotal = 500_000;

/** Sums over the keywords of one schema. */
interface KeywordTotals {
  /** Instructions of its patterns. */
  patterns: number;
}

const dialects: ReadonlySet<JsonValue> = new Set([
  "https://json-schema.org/draft/2020-12/schema",
  "https://json-schema.org/draft/2019-09/schema",
  "http://json-schema.org/draft-07/schema",
  "http://json-schema.org/draft-07/schema#",
]);

const isText = (value: JsonValue): boolean => typeof value === "string";
const isFlag = (value: JsonValue): boolean => typeof value === "boolean";
const isNumber = (value: JsonValue): boolean => typeof value === "number";
const isCount = (value: JsonValue): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isSchema = (value: JsonValue): boolean => isJsonObject(value) || typeof value === "boolean";
const isTexts = (value: JsonValue): boolean => Array.isArray(value) && value.every(isText);
const isType = (value: JsonValue): boolean => typeof value === "string" && standardTypes.has(value);

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value) && value.length > 0;
}

/** A record of which every value holds. */
function isRecordOf(value: JsonValue, holds: (item: JsonValue) => boolean): boolean {
  return isJsonObject(value) && Object.values(value).every((item) => item !== undefined && holds(item));
}

/** Returns the reason why a pattern cannot be checked, if there is one. It completes the sentence `The pattern …`. */
function patternReason(value: string, totals: KeywordTotals): string | undefined {
  if (value.length > maxPatternLength) return `is longer than ${maxPatternLength} characters`;
  const { reason, size = 0 } = compileLinearPattern(value);
  totals.patterns += size;
  return totals.patterns > maxPatternTotal ? "is too large together with the other patterns of the schema" : reason;
}

const schemaRule: ValueRule = { need: "a schema", holds: isSchema };
const schemasRule: ValueRule = {
  need: "a list of schemas, not empty",
  holds: (value) => isList(value) && value.every(isSchema),
};
const mapRule: ValueRule = { need: "schemas by name", holds: (value) => isRecordOf(value, isSchema) };
const textRule: ValueRule = { need: "a text", holds: isText };
const flagRule: ValueRule = { need: "true or false", holds: isFlag };
const numberRule: ValueRule = { need: "a number", holds: isNumber };
const countRule: ValueRule = { need: "a whole number from 0 on", holds: isCount };
const anyRule: ValueRule = { need: "any JSON", holds: () => true };

function all(keywords: Iterable<string>, rule: ValueRule): readonly (readonly [string, ValueRule])[] {
  return Array.from(keywords, (keyword) => [keyword, rule] as const);
}

const rules: ReadonlyMap<string, ValueRule> = new Map([
  ...all(schemaKeywords, schemaRule),
  ...all(listKeywords, schemasRule),
  ...all([...mapKeywords, ...definitionKeywords], mapRule),
  ...all(["title", "description", "format", "contentEncoding", "contentMediaType"], textRule),
  ...all(["$ref", "$id", "$anchor", "$comment", "pattern"], textRule),
  ...all(["deprecated", "readOnly", "writeOnly", "uniqueItems"], flagRule),
  ...all(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], numberRule),
  ...all(["minLength", "maxLength", "minProperties", "maxProperties"], countRule),
  ...all(["minItems", "maxItems", "minContains", "maxContains"], countRule),
  ...all(["const", "default"], anyRule),
  ...all(["enum", "examples"], { need: "a list, not empty", holds: isList }),
  ["multipleOf", { need: "a number above 0", holds: (value) => isNumber(value) && Number(value) > 0 }],
  ["type", { need: "a type of JSON Schema, or a list of them", holds: isTypes }],
  ["required", { need: "a list of texts", holds: isTexts }],
  ["dependentRequired", { need: "lists of texts by name", holds: (value) => isRecordOf(value, isTexts) }],
  ["patternProperties", { need: "schemas by pattern", holds: (value) => isRecordOf(value, isSchema) }],
  ["$schema", { need: "the name of draft 2020-12, 2019-09 or 07", holds: (value) => dialects.has(value) }],
]);

function isTypes(value: JsonValue): boolean {
  return isType(value) || (isList(value) && value.every(isType));
}

/** Returns the problem of the first pattern of a keyword that cannot be checked. */
function patternProblem(keyword: string, value: JsonValue, totals: KeywordTotals): string | undefined {
  if (keyword === "patternProperties" && isJsonObject(value)) {
    for (const pattern of Object.keys(value)) {
      const reason = patternReason(pattern, totals);
      if (reason !== undefined)
        return `"${keyword}" ${JSON.stringify(clipText(pattern, maxShownPatternBytes))} ${reason}`;
    }
  }
  const reason = keyword === "pattern" && typeof value === "string" ? patternReason(value, totals) : undefined;
  return reason === undefined ? undefined : `"${keyword}" ${reason}`;
}

/** Keywords that reject values and that no check implements: dropping them would accept those values. */
const unheld: ReadonlySet<string> = new Set([
  ...[
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
  ],
  // Of older drafts, and of OpenAPI before 3.1.
  ...["additionalItems", "dependencies", "id", "extends", "disallow", "divisibleBy", "nullable"],
  wireKey,
]);

const spelled: ReadonlyMap<string, string> = new Map(keywordOrder.map((name) => [name.toLowerCase(), name]));

/** Returns the problem of one keyword, if there is one. The dialect allows a keyword that it does not know. */
function keywordProblem(keyword: string, value: JsonValue, totals: KeywordTotals): string | undefined {
  if (unheld.has(keyword)) return `"${keyword}" is not supported`;
  const rule = rules.get(keyword);
  if (rule !== undefined && !rule.holds(value)) return `"${keyword}" must be ${rule.need}`;
  const meant = rule === undefined ? spelled.get(keyword.toLowerCase()) : undefined;
  if (meant !== undefined) return `"${keyword}" is no keyword, and "${meant}" is`;
  return patternProblem(keyword, value, totals);
}
