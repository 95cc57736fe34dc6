import { SurfaceError } from "../../errors.ts";
import { compileSchema } from "../compile-schema.ts";
import { isJsonObject, isStandardType, type JsonSchema, jsonTypeOf, type JsonValue } from "../json.ts";
import { definitionKeywords, keywordOrder, listKeywords, mapKeywords, schemaKeywords } from "../keywords.ts";
import { ownVendor } from "../read-standard.ts";
import { maxSchemaDepth, maxSchemaNodes, SchemaDocument } from "../schema-document.ts";
import type { SchemaWithJson } from "../standard.ts";
import { addFault, addIssue, type Check, type CheckWalk, createCheckWalk } from "./check-walk.ts";
import { compileCheck } from "./compile-check.ts";
import { compileLinearPattern } from "./linear-pattern.ts";
import { clipText } from "../visible-text.ts";
import { anyCodec } from "../wire-codec.ts";
import { wireKey } from "../wire-forms.ts";

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

const maxShownBytes = 128;
const maxShownPatternBytes = 64;
// Longer than any pattern written by hand.
const maxPatternLength = 1024;
// Instructions of all patterns of a schema: a thousand patterns of the largest that people write, or 50 MB.
const maxPatternTotal = 500_000;

interface Walk {
  readonly document: SchemaDocument;
  readonly root: JsonSchema;
  readonly path: string[];
  readonly seen: Set<unknown>;
  /** Instructions of the patterns so far. */
  patternTotal: number;
}

/**
 * Refuses a JSON Schema with a keyword that the checks do not implement to the letter: without it they would accept values that its
 * author does not expect. Formats and unknown keywords are annotations, as in the dialect.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming the place and the keyword.
 */
function assertJsonSchema(root: JsonSchema): void {
  assertNode({ document: new SchemaDocument(root), root, path: [], seen: new Set(), patternTotal: 0 }, root);
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
  for (const [keyword, value = null] of Object.entries(node)) {
    const problem = keywordProblem(walk, keyword, value);
    if (problem !== undefined) fail(walk, problem);
    if (keyword === "$id" && node !== walk.root) fail(walk, '"$id" is supported at the root only');
    walk.path.push(keyword);
    assertParts(walk, keyword, value);
    walk.path.pop();
  }
}

function assertParts(walk: Walk, keyword: string, value: JsonValue): void {
  // A reference may point anywhere, also to a place without a schema.
  if (keyword === "$ref" && typeof value === "string") return assertNode(walk, targetOf(walk, value));
  if (schemaKeywords.has(keyword)) return assertNode(walk, value);
  const hasParts = listKeywords.has(keyword) || mapKeywords.has(keyword) || definitionKeywords.has(keyword);
  if (!hasParts || typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
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

/** A condition of a keyword's value. `need` completes `must be …`. */
interface ValueRule {
  readonly need: string;
  readonly holds: (value: JsonValue) => boolean;
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
const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value) && value.length > 0;
const isTypes = (value: JsonValue): boolean =>
  isStandardType(value) || (isList(value) && value.every((name) => isStandardType(name)));

/** Tells whether a value is an object of which every value holds. */
function isRecordOf(value: JsonValue, holds: (item: JsonValue) => boolean): boolean {
  return isJsonObject(value) && Object.values(value).every((item) => item !== undefined && holds(item));
}

function all(
  keywords: Iterable<string>,
  need: string,
  holds: ValueRule["holds"],
): readonly (readonly [string, ValueRule])[] {
  return Array.from(keywords, (keyword) => [keyword, { need, holds }] as const);
}

const rules: ReadonlyMap<string, ValueRule> = new Map([
  ...all(schemaKeywords, "a schema", isSchema),
  ...all(listKeywords, "a list of schemas, not empty", (value) => isList(value) && value.every(isSchema)),
  ...all([...mapKeywords, ...definitionKeywords], "schemas by name", (value) => isRecordOf(value, isSchema)),
  ...all(["title", "description", "format", "contentEncoding", "contentMediaType"], "a text", isText),
  ...all(["$ref", "$id", "$anchor", "$comment", "pattern"], "a text", isText),
  ...all(["deprecated", "readOnly", "writeOnly", "uniqueItems"], "true or false", isFlag),
  ...all(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], "a number", isNumber),
  ...all(["minLength", "maxLength", "minProperties", "maxProperties"], "a whole number from 0 on", isCount),
  ...all(["minItems", "maxItems", "minContains", "maxContains"], "a whole number from 0 on", isCount),
  ...all(["const", "default"], "any JSON", () => true),
  ...all(["enum", "examples"], "a list, not empty", isList),
  ...all(["multipleOf"], "a number above 0", (value) => isNumber(value) && Number(value) > 0),
  ...all(["type"], "a type of JSON Schema, or a list of them", isTypes),
  ...all(["required"], "a list of texts", isTexts),
  ...all(["dependentRequired"], "lists of texts by name", (value) => isRecordOf(value, isTexts)),
  ...all(["patternProperties"], "schemas by pattern", (value) => isRecordOf(value, isSchema)),
  ...all(["$schema"], "the name of draft 2020-12, 2019-09 or 07", (value) => dialects.has(value)),
]);

/** Keywords that refuse values and that no check implements: dropping them would accept those values. */
const unimplemented: ReadonlySet<string> = new Set([
  ...["unevaluatedProperties", "unevaluatedItems"],
  ...["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"],
  // Of older drafts, and of OpenAPI before 3.1.
  ...["additionalItems", "dependencies", "id", "extends", "disallow", "divisibleBy", "nullable"],
  wireKey,
]);

const spelled: ReadonlyMap<string, string> = new Map(keywordOrder.map((name) => [name.toLowerCase(), name]));

/** Returns the problem of one keyword, if there is one. The dialect allows a keyword that it does not know. */
function keywordProblem(walk: Walk, keyword: string, value: JsonValue): string | undefined {
  if (unimplemented.has(keyword)) return `"${keyword}" is not supported`;
  const rule = rules.get(keyword);
  if (rule !== undefined && !rule.holds(value)) return `"${keyword}" must be ${rule.need}`;
  const meant = rule === undefined ? spelled.get(keyword.toLowerCase()) : undefined;
  if (meant !== undefined) return `"${keyword}" is no keyword, and "${meant}" is`;
  if (keyword === "pattern" && typeof value === "string") return patternProblem(walk, value, '"pattern"');
  return keyword === "patternProperties" && isJsonObject(value) ? namesProblem(walk, Object.keys(value)) : undefined;
}

/** Returns the first problem of the patterns under `patternProperties`. */
function namesProblem(walk: Walk, patterns: readonly string[]): string | undefined {
  for (const pattern of patterns) {
    const shown = JSON.stringify(clipText(pattern, maxShownPatternBytes));
    const problem = patternProblem(walk, pattern, `"patternProperties" ${shown}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns the reason why a pattern cannot be checked, if there is one. */
function patternProblem(walk: Walk, pattern: string, what: string): string | undefined {
  if (pattern.length > maxPatternLength) return `${what} is longer than ${maxPatternLength} characters`;
  const { reason, size = 0 } = compileLinearPattern(pattern);
  walk.patternTotal += size;
  if (walk.patternTotal > maxPatternTotal) return `${what} is too large together with the other patterns of the schema`;
  return reason === undefined ? undefined : `${what} ${reason}`;
}
