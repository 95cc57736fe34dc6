import { SurfaceError } from "../../errors.ts";
import { isRecord } from "../../options/is-object.ts";
import { isJsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { listKeywords, mapKeywords, schemaKeywords } from "../../schema/keywords.ts";
import { fromJsonSchema, type JsonValidator } from "../../schema/validator/from-json-schema.ts";
import type { SchemaWithJson } from "../../schema/standard.ts";
import { bytesFormOf, decodeBytes, toJSONSchema, type BytesForm } from "./to-json-schema.ts";
import { setAt, type Path } from "./values.ts";

/** Positions of bytes in the values of a schema. Plain data, so that two plans can be compared. */
export interface BytesPlan {
  /** The form of the value itself, if it is bytes. */
  readonly form: BytesForm | undefined;
  /** Every declared property, with a plan if it holds bytes. */
  readonly properties: ReadonlyMap<string, BytesPlan | undefined>;
  /** The plan of properties that are not declared. */
  readonly rest: BytesPlan | undefined;
  readonly items: BytesPlan | undefined;
  readonly all: readonly BytesPlan[];
  /** Lists of alternatives. The first alternative of a list that fits applies. */
  readonly any: readonly (readonly Alternative[])[];
}

/** One alternative of `anyOf` or `oneOf`. */
interface Alternative {
  readonly schema: JsonSchema;
  readonly plan: BytesPlan | undefined;
}

function listOf(schema: object, keyword: string): readonly unknown[] {
  const list: unknown = Reflect.get(schema, keyword);
  return Array.isArray(list) ? list : [];
}

function planAt(schema: object, keyword: string): BytesPlan | undefined {
  return toBytesPlan(Reflect.get(schema, keyword));
}

function propertiesOf(schema: object): BytesPlan["properties"] {
  const properties: unknown = Reflect.get(schema, "properties");
  const entries = isRecord(properties) ? Object.entries(properties) : [];
  return new Map(entries.map(([name, part]) => [name, toBytesPlan(part)]));
}

function alternativesOf(schema: object, keyword: "anyOf" | "oneOf"): readonly Alternative[] {
  const all = listOf(schema, keyword).flatMap((part): readonly Alternative[] => {
    if (!isRecord(part)) return part === true ? [{ schema: {}, plan: undefined }] : [];
    return [{ schema: toJSONSchema(part), plan: toBytesPlan(part) }];
  });
  return all.some(({ plan }) => plan !== undefined) ? all : [];
}

const followed: ReadonlySet<string> = new Set([
  "properties",
  "additionalProperties",
  "items",
  "allOf",
  "anyOf",
  "oneOf",
]);

function partsOf(keyword: string, value: unknown): readonly unknown[] {
  if (schemaKeywords.has(keyword)) return [value];
  if (listKeywords.has(keyword)) return Array.isArray(value) ? value : [];
  return mapKeywords.has(keyword) && isRecord(value) ? Object.values(value) : [];
}

/** Refuses bytes below any other keyword: they would reach the service as text. */
function assertNoneElsewhere(schema: object): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (followed.has(keyword) || partsOf(keyword, value).every((part) => toBytesPlan(part) === undefined)) continue;
    throw new SurfaceError("SCHEMA_UNSUPPORTED", `Cannot decode the bytes below "${keyword}" of a schema`);
  }
}

function hasBytes({ form, properties, rest, items, all, any }: BytesPlan): boolean {
  const below = [rest, items, ...properties.values()];
  return form !== undefined || all.length > 0 || any.length > 0 || below.some((plan) => plan !== undefined);
}

/**
 * Finds the bytes in a schema that {@link toJSONSchema} has accepted, which bounds its depth; `undefined` if there are none.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` for bytes below a keyword that schemas of `@adobe/data` do not have.
 */
export function toBytesPlan(schema: unknown): BytesPlan | undefined {
  if (!isRecord(schema)) return undefined;
  assertNoneElsewhere(schema);
  const form = bytesFormOf(schema);
  const plan: BytesPlan = {
    form,
    properties: propertiesOf(schema),
    rest: planAt(schema, "additionalProperties"),
    // The items of a typed buffer describe its memory, not its text.
    items: form === undefined ? planAt(schema, "items") : undefined,
    all: listOf(schema, "allOf").flatMap((part) => toBytesPlan(part) ?? []),
    any: [alternativesOf(schema, "anyOf"), alternativesOf(schema, "oneOf")].filter((list) => list.length > 0),
  };
  return hasBytes(plan) ? plan : undefined;
}

/** A part of an input. */
interface Part {
  readonly json: JsonValue;
  readonly path: Path;
}

interface Bytes {
  readonly path: Path;
  readonly value: unknown;
}

interface Issue {
  readonly path: Path;
  readonly message: string;
}

type Finding = Bytes | Issue;

function isIssue(finding: Finding): finding is Issue {
  return "message" in finding;
}

function readText(form: BytesForm, { json, path }: Part): readonly Finding[] {
  if (typeof json !== "string") return [];
  const decoded = decodeBytes(form, json);
  return ["value" in decoded ? { path, value: decoded.value } : { path, message: decoded.problem }];
}

function fits(schema: JsonSchema, json: JsonValue): boolean {
  const result = fromJsonSchema(schema)["~standard"].validate(json);
  return !("then" in result) && result.issues === undefined;
}

/** Applies the first alternative that accepts the value and whose bytes are base64; else the first that accepts the value. */
function findInAny(alternatives: readonly Alternative[], part: Part): readonly Finding[] {
  const found = alternatives
    .filter(({ schema }) => fits(schema, part.json))
    .map(({ plan }) => (plan === undefined ? [] : findIn(plan, part)));
  return found.find((findings) => !findings.some(isIssue)) ?? found[0] ?? [];
}

function findBelow({ properties, rest, items }: BytesPlan, { json, path }: Part): readonly Finding[] {
  const find = (plan: BytesPlan | undefined, value: JsonValue, key: string | number): readonly Finding[] =>
    plan === undefined ? [] : findIn(plan, { json: value, path: [...path, key] });
  if (Array.isArray(json)) return json.flatMap((item, index) => find(items, item, index));
  if (!isJsonObject(json)) return [];
  return Object.entries(json).flatMap(([name, value]) =>
    value === undefined ? [] : find(properties.has(name) ? properties.get(name) : rest, value, name),
  );
}

function findIn(plan: BytesPlan, part: Part): readonly Finding[] {
  const { form, all, any } = plan;
  if (form !== undefined) return readText(form, part);
  return [
    ...all.flatMap((each) => findIn(each, part)),
    ...any.flatMap((alternatives) => findInAny(alternatives, part)),
    ...findBelow(plan, part),
  ];
}

function copyOf(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(copyOf);
  if (!isJsonObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, copyOf(value)]));
}

/** Returns a copy of the input with the decoded bytes. */
function withBytes(json: JsonValue, found: readonly Bytes[]): unknown {
  const root = { value: copyOf(json) };
  for (const { path, value } of found) setAt(root, path, value);
  return root.value;
}

/** Creates the schema of an input with bytes. It decodes the texts at which the plan has bytes, and refuses those that are not base64. */
export function createBytesSchema(json: JsonSchema, plan: BytesPlan): SchemaWithJson<JsonValue, unknown> {
  const standard: JsonValidator["~standard"] = fromJsonSchema(json)["~standard"];
  return {
    "~standard": {
      version: 1,
      vendor: standard.vendor,
      jsonSchema: standard.jsonSchema,
      validate(value) {
        const checked = standard.validate(value);
        if ("then" in checked || checked.issues !== undefined) return checked;
        const found = findIn(plan, { json: checked.value, path: [] });
        const issues = found.filter(isIssue);
        if (issues.length > 0) return { issues };
        const bytes = found.flatMap((finding) => (isIssue(finding) ? [] : [finding]));
        return { value: bytes.length === 0 ? checked.value : withBytes(checked.value, bytes) };
      },
    },
  };
}
