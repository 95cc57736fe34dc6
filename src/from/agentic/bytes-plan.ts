import { SurfaceError } from "../../errors.ts";
import type { JsonSchema } from "../../schema/json.ts";
import { listKeywords, mapKeywords, schemaKeywords } from "../../schema/keywords.ts";
import { bytesFormOf, toJSONSchema, type BytesForm } from "./to-json-schema.ts";
import { isRecord } from "../../options/is-object.ts";

/** Places at which the values of a schema hold bytes. Plain data, so that two plans can be compared. */
export interface BytesPlan {
  /** The value itself is bytes. */
  readonly form: BytesForm | undefined;
  /** Every declared property, with its plan if there are bytes below it. */
  readonly properties: ReadonlyMap<string, BytesPlan | undefined>;
  /** Properties that are not declared. */
  readonly rest: BytesPlan | undefined;
  readonly items: BytesPlan | undefined;
  readonly all: readonly BytesPlan[];
  /** Lists of alternatives: of each list, the first alternative that fits applies. */
  readonly any: readonly (readonly Alternative[])[];
}

/** One alternative of `anyOf` or `oneOf`. */
export interface Alternative {
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
    // Those of a typed buffer say how its bytes are kept.
    items: form === undefined ? planAt(schema, "items") : undefined,
    all: listOf(schema, "allOf").flatMap((part) => toBytesPlan(part) ?? []),
    any: [alternativesOf(schema, "anyOf"), alternativesOf(schema, "oneOf")].filter((list) => list.length > 0),
  };
  return hasBytes(plan) ? plan : undefined;
}
