import { canonicalText, isJsonObject, toList } from "./json.ts";
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
const unlimited: Field = { variants: [{}], isComplete: false };
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
  for (const arms of unionsOf(node)) parts.push(either(arms.map(fieldsOf)));
  return every([...parts, ...conditionalFields(node)]);
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
  const single = armsOf(node).filter((arms) => arms.length === 1);
  return [...nodesOf(node["allOf"]), ...single.flat()];
}

/** Returns the unions of one node, without those of its `allOf`. Arms that accept nothing are left out. */
export function unionsOf(node: JsonObject): readonly (readonly JsonObject[])[] {
  return armsOf(node).filter((arms) => arms.length > 1);
}

function armsOf({ anyOf, oneOf }: JsonObject): readonly (readonly JsonObject[])[] {
  return [anyOf, oneOf].map((arms) => nodesOf(arms).filter((arm) => !isNever(arm)));
}

function nodesOf(value: unknown): readonly JsonObject[] {
  return toList(value).filter(isJsonObject);
}

function ownFields(node: JsonObject): ObjectFields {
  const { properties, required } = node;
  const named = new Map<string, Field>();
  for (const [name, part] of Object.entries(isJsonObject(properties) ? properties : {})) {
    named.set(
      name,
      part === undefined || isNever(part) || isAbsent(part) ? forbidden : { variants: [part], isComplete: true },
    );
  }
  return { named, rest: restOf(node), required: new Set(toList(required).map(String)) };
}

/** Returns the fields without a name. A pattern may match any of them: matching names would make the shown schema narrower. */
function restOf(node: JsonObject): Field {
  const { patternProperties, additionalProperties: rest, unevaluatedProperties: unevaluated = false } = node;
  // An object that an `enum` lists may have any fields.
  if (node["enum"] !== undefined) return unlimited;
  const patterns = Object.values(isJsonObject(patternProperties) ? patternProperties : {});
  const further = [rest ?? false, unevaluated].filter((part) => !isNever(part));
  return shorten({ variants: [...patterns.map((part) => part ?? {}), ...further], isComplete: rest !== undefined });
}

function shorten(field: Field): Field {
  const variants = distinct(field.variants);
  if (canonicalText([...variants]).length > maxRestLength) return { ...field, variants: [{}] };
  return { variants, isComplete: field.isComplete };
}

/** Returns the fields of schemas that hold under a condition only. The `if` itself may describe any field, and limits none. */
function conditionalFields(node: JsonObject): readonly ObjectFields[] {
  const { if: condition, then, else: otherwise, dependentSchemas } = node;
  const dependent = Object.values(isJsonObject(dependentSchemas) ? dependentSchemas : {});
  // `normalise` may leave out the `if` of a branch.
  const parts = nodesOf([then, otherwise, ...dependent]).map((part) => either([fieldsOf(part), noFields]));
  return isJsonObject(condition) ? [...parts, { ...noFields, rest: unlimited }] : parts;
}

/** Returns the fields of objects that all schemas accept. */
function every(parts: readonly ObjectFields[]): ObjectFields {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  const limiting = parts.filter(({ rest }) => rest.isComplete || rest.variants.length > 0);
  const named = new Map<string, Field>();
  for (const [name, found] of groupByName(parts)) {
    const others = limiting.filter((part) => !part.named.has(name));
    named.set(name, [...others, ...found].map((part) => fieldAt(part, name)).reduce(bothFields));
  }
  const rest = shorten(parts.map((part) => part.rest).reduce(bothFields, ignored));
  return { named, rest, required: new Set(parts.flatMap(({ required }) => [...required])) };
}

/** Returns the parts that name each field. */
function groupByName(parts: readonly ObjectFields[]): ReadonlyMap<string, readonly ObjectFields[]> {
  const groups = new Map<string, ObjectFields[]>();
  for (const part of parts) {
    for (const name of part.named.keys()) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [part]);
      else group.push(part);
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

/** Returns the narrower of two fields, in doubt the second, with the description of the other. */
function narrower(first: Field, second: Field): Field {
  const [one, other] = widthOf(first) < widthOf(second) ? [first, second] : [second, first];
  const [described] = other.variants;
  const description = isJsonObject(described) && other.variants.length === 1 ? described["description"] : undefined;
  if (description === undefined) return one;
  const variants = one.variants.map((variant) => {
    return isJsonObject(variant) ? orderKeywords({ description, ...variant }) : variant;
  });
  return { ...one, variants };
}

/** Returns a number that is lower for fields of fewer values: forbidden ones, lists of values, other schemas, any value. */
function widthOf(field: Field): number {
  if (field.variants.length === 0) return 0;
  if (listedValues(field) !== undefined) return 1;
  return takesAnything(field) ? 3 : 2;
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
    const fields = found.map((arm) => fieldAt(arm, name));
    // Whether all arms that do not name the field limit it.
    const isLimited = found.filter((arm) => !arm.rest.isComplete).length === open;
    named.set(name, {
      variants: [...fields, ...(found.length < arms.length ? [rest] : [])].flatMap(({ variants }) => variants),
      isComplete: isLimited && fields.every(({ isComplete }) => isComplete),
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
