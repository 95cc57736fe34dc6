import { fromJsonSchema, type JsonValidator } from "../../schema/validator/from-json-schema.ts";
import { isJsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import type { SchemaWithJson } from "../../schema/with-json-schema.ts";
import { decodeBytes, type BytesForm } from "./to-json-schema.ts";
import type { Alternative, BytesPlan } from "./bytes-plan.ts";
import { setAt, type Path } from "./values.ts";

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

/** Reads by the first alternative that takes the value and whose bytes are base64; by the first that takes it if none is. */
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

/** Returns a copy of the input that has the bytes in the place of their texts. */
function withBytes(json: JsonValue, found: readonly Bytes[]): unknown {
  const root = { value: copyOf(json) };
  for (const { path, value } of found) setAt(root, path, value);
  return root.value;
}

/** Makes the schema of an input with bytes: refuses texts that are not base64 where the plan has bytes, and decodes the others. */
export function toBytesSchema(json: JsonSchema, plan: BytesPlan): SchemaWithJson<JsonValue, unknown> {
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
