import { canonicalText, isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { orderKeywords } from "./keywords.ts";
import { absentNode } from "./schema-document.ts";

/** The values of one field, or of all fields without a name in the schema. */
export interface Field {
  /** Schemas of which a value meets one. Empty for a field that is forbidden, always absent, or not described. */
  readonly variants: readonly JsonValue[];
  /** Whether the variants hold for every accepted object; otherwise an alternative ignores the field. */
  readonly isComplete: boolean;
}

/** The fields of an object schema, including those of its `allOf`, `anyOf`, `oneOf` and conditions. */
export interface ObjectFields {
  readonly named: ReadonlyMap<string, Field>;
  /** The fields without a name in the schema. */
  readonly rest: Field;
  /** The fields that every accepted object has. */
  readonly required: ReadonlySet<string>;
}

const ignored: Field = { variants: [], isComplete: false };
const forbidden: Field = { variants: [], isComplete: true };
const anything: Field = { variants: [{}], isComplete: true };
const noFields: ObjectFields = { named: new Map(), rest: ignored, required: new Set() };
const absentText = canonicalText({ description: String(absentNode()["description"]) });
// Every named field repeats the schema of unnamed ones, so a long one would multiply the size of a listing.
const maxRestLength = 256;

/**
 * Reads the fields of an object schema. Every accepted object without unevaluated fields (fields that no matching part of the schema
 * describes) has values of the returned variants. In doubt a field gets more variants, never fewer.
 */
export function fieldsOf(node: JsonObject): ObjectFields {
  const parts = [ownFields(node), ...joinedNodes(node).map(fieldsOf)];
  for (const { arms } of unionsOf(node)) parts.push(either(arms.map(fieldsOf)));
  parts.push(...conditionalFields(node));
  return withUnevaluated(every(parts), node["unevaluatedProperties"]);
}

/** Returns the field of a name. */
export function fieldAt({ named, rest }: ObjectFields, name: string): Field {
  return named.get(name) ?? rest;
}

/** Tells whether no accepted object has the field. */
export function isForbidden({ variants, isComplete }: Field): boolean {
  return isComplete && variants.length === 0;
}

/** Returns the values that a field is limited to, or undefined when one of its variants is not a list of values. */
export function listedValues({ variants }: Field): readonly JsonValue[] | undefined {
  const lists = variants.map((variant) => {
    if (!isJsonObject(variant)) return undefined;
    if (variant["type"] === "null") return [null];
    return Array.isArray(variant["enum"]) ? variant["enum"] : undefined;
  });
  return lists.length === 0 || lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? []);
}

/** Returns the schemas that each value meets: `allOf`, and a union with one arm. */
export function joinedNodes(node: JsonObject): readonly JsonObject[] {
  const single = (["anyOf", "oneOf"] as const)
    .map((keyword) => armsOf(node, keyword))
    .filter(({ length }) => length === 1);
  return [...nodesOf(node["allOf"]), ...single.flat()];
}

/** Returns the unions of one node, without those of its `allOf`. Arms that accept nothing are left out. */
export function unionsOf(node: JsonObject): readonly { keyword: "anyOf" | "oneOf"; arms: readonly JsonObject[] }[] {
  return (["anyOf", "oneOf"] as const)
    .map((keyword) => ({ keyword, arms: armsOf(node, keyword) }))
    .filter(({ arms }) => arms.length > 1);
}

function armsOf(node: JsonObject, keyword: "anyOf" | "oneOf"): readonly JsonObject[] {
  return nodesOf(node[keyword]).filter((arm) => !isNever(arm));
}

function nodesOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function ownFields(node: JsonObject): ObjectFields {
  const { properties, required, enum: values } = node;
  const named = new Map<string, Field>();
  for (const [name, part] of Object.entries(isJsonObject(properties) ? properties : {})) {
    named.set(
      name,
      part === undefined || isNever(part) || isAbsent(part) ? forbidden : { variants: [part], isComplete: true },
    );
  }
  const own = { named, rest: restOf(node), required: new Set(Array.isArray(required) ? required.map(String) : []) };
  return Array.isArray(values) ? every([own, either(nodesOf(values).map(fieldsOfValue))]) : own;
}

/** Returns the fields of an object that an `enum` lists. */
function fieldsOfValue(value: JsonObject): ObjectFields {
  const fields = Object.entries(value).map(([name, part]): [string, Field] => {
    return [name, { variants: [{ enum: [part ?? null] }], isComplete: true }];
  });
  return { named: new Map(fields), rest: forbidden, required: new Set(Object.keys(value)) };
}

/** Returns the fields without a name. A pattern may match any of them: matching names would make the shown schema narrower. */
function restOf({ patternProperties, additionalProperties: rest }: JsonObject): Field {
  const patterns = Object.values(isJsonObject(patternProperties) ? patternProperties : {});
  const further = rest === undefined || isNever(rest) ? [] : [rest === true ? {} : rest];
  return shorten({ variants: [...patterns.map((part) => part ?? {}), ...further], isComplete: rest !== undefined });
}

function shorten(field: Field): Field {
  const variants = distinct(field.variants);
  if (canonicalText([...variants]).length > maxRestLength) return { ...anything, isComplete: field.isComplete };
  return { variants, isComplete: field.isComplete };
}

/** Returns the fields of schemas that hold under a condition only. An `if` describes its fields and limits none. */
function conditionalFields(node: JsonObject): readonly ObjectFields[] {
  const { if: condition, then, else: otherwise, dependentSchemas } = node;
  // `normalise` may leave out the `if` of a branch.
  const branches = nodesOf([then ?? true, otherwise ?? true]);
  const dependent = nodesOf(
    Object.values(isJsonObject(dependentSchemas) ? dependentSchemas : {}).map((part) => part ?? true),
  );
  const parts = [...branches, ...dependent].map((part) => either([fieldsOf(part), noFields]));
  if (!isJsonObject(condition)) return parts;
  const { named, rest } = fieldsOf(condition);
  const free: Field = { ...anything, isComplete: false };
  const freeNames = new Map([...named.keys()].map((name) => [name, free]));
  return [...parts, { named: freeNames, rest: rest.variants.length > 0 ? free : ignored, required: new Set() }];
}

/** Applies `unevaluatedProperties` to fields that no part describes. */
function withUnevaluated(fields: ObjectFields, schema: JsonValue | undefined): ObjectFields {
  if (schema === undefined) return fields;
  const { variants } = restOf({ additionalProperties: schema });
  const complete = (field: Field): Field => {
    return field.isComplete ? field : { variants: [...field.variants, ...variants], isComplete: true };
  };
  const named = new Map([...fields.named].map(([name, field]) => [name, complete(field)]));
  return { ...fields, named, rest: complete(fields.rest) };
}

/** Returns the fields of objects that all schemas accept. */
function every(parts: readonly ObjectFields[]): ObjectFields {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  const limiting = parts.filter(({ rest }) => rest.isComplete || rest.variants.length > 0);
  const named = new Map<string, Field>();
  for (const [name, found] of groupByName(parts)) {
    const others = limiting.filter((part) => !part.named.has(name)).map(({ rest }) => rest);
    named.set(name, [...found.map(({ field }) => field), ...others].reduce(bothFields));
  }
  const rest = shorten(parts.map((part) => part.rest).reduce(bothFields, ignored));
  return { named, rest, required: new Set(parts.flatMap(({ required }) => [...required])) };
}

interface Found {
  readonly field: Field;
  readonly fields: ObjectFields;
}

function groupByName(all: readonly ObjectFields[]): ReadonlyMap<string, readonly Found[]> {
  const groups = new Map<string, Found[]>();
  for (const fields of all) {
    for (const [name, field] of fields.named) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [{ field, fields }]);
      else group.push({ field, fields });
    }
  }
  return groups;
}

/** Joins two fields of a value. Either of two complete ones describes it, and perhaps only one of two incomplete ones. */
function bothFields(first: Field, second: Field): Field {
  if (first.isComplete && second.isComplete) return narrower(first, second);
  if (!first.isComplete && !second.isComplete) {
    return { variants: [...first.variants, ...second.variants], isComplete: false };
  }
  const [complete, partial] = first.isComplete ? [first, second] : [second, first];
  // The partial variants stay as a hint where the field may hold anything.
  return takesAnything(complete) ? { ...complete, variants: [...partial.variants, ...complete.variants] } : complete;
}

function narrower(first: Field, second: Field): Field {
  const [one, other] = compareWidth(first, second) > 0 ? [second, first] : [first, second];
  const [described] = other.variants;
  const description = isJsonObject(described) && other.variants.length === 1 ? described["description"] : undefined;
  if (description === undefined) return one;
  const variants = one.variants.map((variant) => {
    return isJsonObject(variant) ? orderKeywords({ description, ...variant }) : variant;
  });
  return { ...one, variants };
}

/** Compares fields: forbidden ones first, then lists of values, then longer schemas; fields of any value come last. */
function compareWidth(first: Field, second: Field): number {
  const rank = (field: Field): readonly number[] => {
    if (field.variants.length === 0) return [0];
    const values = listedValues(field);
    if (values !== undefined) return [1, values.length];
    return takesAnything(field) ? [3] : [2, -canonicalText([...field.variants]).length];
  };
  const [ranks, others] = [rank(first), rank(second)];
  const index = ranks.findIndex((value, at) => value !== others[at]);
  return (ranks[index] ?? 0) - (others[index] ?? 0);
}

function takesAnything({ variants }: Field): boolean {
  return variants.some((variant) => variant === true || (isJsonObject(variant) && Object.keys(variant).length === 0));
}

/** Returns the fields of objects that at least one of the schemas accepts. */
function either(arms: readonly ObjectFields[]): ObjectFields {
  const rest = shorten({
    variants: arms.flatMap((arm) => arm.rest.variants),
    isComplete: arms.every((arm) => arm.rest.isComplete),
  });
  const open = arms.filter((arm) => !arm.rest.isComplete).length;
  const named = new Map<string, Field>();
  for (const [name, found] of groupByName(arms)) {
    const variants = found.flatMap(({ field }) => field.variants);
    // Whether all arms that do not name the field limit it.
    const isLimited = found.filter(({ fields }) => !fields.rest.isComplete).length === open;
    named.set(name, {
      variants: found.length < arms.length ? [...variants, ...rest.variants] : variants,
      isComplete: isLimited && found.every(({ field }) => field.isComplete),
    });
  }
  const [first = noFields, ...others] = arms;
  const required = [...first.required].filter((name) => others.every((arm) => arm.required.has(name)));
  return { named, rest, required: new Set(required) };
}

function isNever(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return schema === false;
  const { not } = schema;
  return isJsonObject(not) && Object.keys(not).length === 0;
}

function isAbsent(schema: JsonValue): boolean {
  return canonicalText(schema) === absentText;
}

/** Returns the schemas without duplicates. */
export function distinct(variants: readonly JsonValue[]): readonly JsonValue[] {
  return [...new Map(variants.map((variant) => [canonicalText(variant), variant])).values()];
}
