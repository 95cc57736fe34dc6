import { isJsonObject, setOwn } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { clipText } from "./visible-text.ts";
import { isAnyName, orderKeywords } from "./keywords.ts";
import { distinct, fieldAt, fieldsOf, isForbidden, joinedNodes, listedValues, unionsOf } from "./object-fields.ts";
import type { Field, ObjectFields } from "./object-fields.ts";

/** One alternative of a union: the schemas that hold together, and its title. */
interface Case {
  readonly nodes: readonly JsonObject[];
  readonly title: string | undefined;
  /** Whether it has further unions, which the text leaves out. */
  readonly isPartial: boolean;
}

interface ReadCase extends ObjectFields {
  readonly title: string | undefined;
  /** The fields that the alternative describes or requires. */
  readonly names: readonly string[];
}

// At least one provider rejects each of these at a root.
const refusedKeywords = ["allOf", "anyOf", "oneOf", "not", "if", "enum", "const"] as const;
const foldedKeywords: ReadonlySet<string> = new Set([
  ...refusedKeywords,
  ...["properties", "required", "additionalProperties", "unevaluatedProperties"],
  ...["then", "else", "dependentSchemas"],
]);

const maxUnions = 6;
const maxRules = 24;
const maxRuleBytes = 256;
const maxTitleBytes = 96;
const maxValues = 6;
const lostKeywords = ["not", "if", "enum", "dependentSchemas"];
// `flattenRoot` keeps the others of the root itself.
const lostBelowKeywords = [
  ...lostKeywords,
  ...["dependentRequired", "propertyNames", "patternProperties", "minProperties", "maxProperties"],
];

/** Returns the keywords at the root of an input for which large providers reject the whole session. */
export function rejectedRootKeywords(json: JsonSchema): readonly string[] {
  return refusedKeywords.filter((keyword) => json[keyword] !== undefined);
}

/**
 * Writes the root of a tool's input as one plain object. Alternatives become optional fields, a discriminator becomes an enum of
 * its values, and the description says which fields belong together. The original schema still validates.
 */
export function flattenRoot(json: JsonSchema): JsonSchema {
  if (rejectedRootKeywords(json).length === 0) return json;
  const fields = fieldsOf(json);
  const properties: JsonObject = {};
  for (const [name, field] of fields.named) {
    if (field.variants.length > 0) setOwn(properties, name, toShown(field));
  }
  const kept = Object.entries(json).filter(([key]) => !foldedKeywords.has(key));
  const texts = [json["description"], ...rulesOf(json, fields)].filter((text) => typeof text === "string");
  const description = texts.filter((text) => text !== "").join("\n\n");
  return orderKeywords({
    ...Object.fromEntries(kept),
    type: "object",
    properties,
    ...(fields.required.size === 0 ? {} : { required: [...fields.required] }),
    ...(isForbidden(fields.rest) ? { additionalProperties: false } : {}),
    ...(description === "" ? {} : { description }),
  });
}

/** Returns one schema for a field that alternatives describe differently. */
function toShown({ variants }: Field): JsonValue {
  const arms = distinct(variants.flatMap(armsOf));
  const [only] = arms;
  const shown = distinct(variants);
  if (shown.length === 1 && shown[0] !== undefined) return shown[0];
  if (arms.length === 1 && only !== undefined) return only;
  return mergeEnums(arms) ?? { anyOf: [...arms] };
}

/** Returns the arms of a union, so that a union of unions is one list. */
function armsOf(variant: JsonValue): readonly JsonValue[] {
  if (isJsonObject(variant) && Object.keys(variant).length === 1 && Array.isArray(variant["anyOf"]))
    return variant["anyOf"];
  return [variant === true ? {} : variant];
}

function mergeEnums(variants: readonly JsonValue[]): JsonObject | undefined {
  const nodes = variants.filter(isJsonObject);
  const [first] = nodes;
  if (first === undefined || nodes.length < variants.length) return undefined;
  const isEnum = nodes.every((node) => Array.isArray(node["enum"]) && node["type"] === first["type"]);
  if (!isEnum) return undefined;
  const values = nodes.flatMap((node) => (Array.isArray(node["enum"]) ? node["enum"] : []));
  const { type, description } = first;
  const isShared = description !== undefined && nodes.every((node) => node["description"] === description);
  return {
    ...(type === undefined ? {} : { type }),
    ...(isShared ? { description } : {}),
    enum: [...new Set(values)],
  };
}

/** Describes how the fields of an object schema depend on each other: one list for each union, and a sentence about all other rules. */
function rulesOf(root: JsonSchema, { required }: ObjectFields): readonly string[] {
  const all = allUnionsOf(root);
  const unions = all.slice(0, maxUnions);
  const lists = unions.map((cases) => listCases(cases, { required, maxLines: Math.floor(maxRules / unions.length) }));
  const isPartial =
    unions.length < all.length || lists.includes(undefined) || unions.flat().some((each) => each.isPartial);
  return [
    ...lists.map((list = "") => list),
    isPartial || hidesRules(root) ? "Further conditions hold that this schema does not show." : "",
  ];
}

/** Returns the alternatives of each union of a node and of its `allOf`, which hold independently of each other. */
function allUnionsOf(node: JsonObject): readonly (readonly Case[])[] {
  return [...unionsOf(node).map((arms) => arms.flatMap(casesOf)), ...joinedNodes(node).flatMap(allUnionsOf)];
}

/** Returns the alternatives of one arm: one for each alternative of the single union in it, or else the arm itself. */
function casesOf(arm: JsonObject): readonly Case[] {
  const { title, description } = arm;
  const name = [title, description].find((text) => typeof text === "string" && text !== "");
  const own = typeof name === "string" ? name : undefined;
  const [inner, ...others] = allUnionsOf(arm);
  if (inner === undefined || others.length > 0) return [{ nodes: [arm], title: own, isPartial: others.length > 0 }];
  const outer = withoutUnions(arm);
  return inner.map((each) => ({ ...each, nodes: [outer, ...each.nodes], title: each.title ?? own }));
}

function withoutUnions(node: JsonObject): JsonObject {
  const { allOf: _allOf, anyOf: _anyOf, oneOf: _oneOf, ...own } = node;
  return { ...own, allOf: joinedNodes(node).map(withoutUnions) };
}

/**
 * Lists the alternatives of a union. Returns an empty text if they differ only in the values of one field, which its schema shows;
 * `undefined` if they differ in a way that no line shows.
 */
function listCases(
  cases: readonly Case[],
  at: { readonly required: ReadonlySet<string>; readonly maxLines: number },
): string | undefined {
  const read = cases.slice(0, maxRules).map(({ nodes, title }): ReadCase => {
    const fields = fieldsOf({ allOf: nodes });
    const described = [...fields.named].filter(([, { variants }]) => variants.length > 0).map(([name]) => name);
    const required = new Set([...fields.required, ...at.required]);
    return { ...fields, title, required, names: [...new Set([...described, ...fields.required])] };
  });
  const shared = sharedFields(read);
  const lines = [...new Set(read.map((each) => toLine(each, shared)))];
  if (lines.length < 2) return read.some(({ names }) => names.length > 1) ? undefined : "";
  const shown = lines.slice(0, at.maxLines).map((line) => clipText(`- ${line}`, maxRuleBytes));
  const count = lines.length - shown.length + cases.length - read.length;
  return ["Give the fields of one of these:", ...shown, ...(count > 0 ? [`- and ${count} more`] : [])].join("\n");
}

/** Returns the fields with the same list of values in every alternative, which their own schema shows. */
function sharedFields(cases: readonly ObjectFields[]): ReadonlySet<string> {
  const names = cases[0]?.named.keys() ?? [];
  return new Set(
    [...names].filter((name) => new Set(cases.map((each) => toValuesText(fieldAt(each, name)))).size === 1),
  );
}

function toLine(fields: ReadCase, shared: ReadonlySet<string>): string {
  const { names, rest, required, title } = fields;
  const label = (name: string): string => {
    const values = shared.has(name) ? undefined : toValuesText(fieldAt(fields, name));
    return values === undefined ? name : `${name} ${values}`;
  };
  const needed = names.filter((name) => required.has(name)).map((name) => ({ name, text: label(name) }));
  const tags = needed.filter(({ name, text }) => text !== name).map(({ text }) => text);
  const others = needed.filter(({ name, text }) => text === name).map(({ text }) => text);
  const optional = names.filter((name) => !required.has(name)).map(label);
  const needs =
    others.length > 0 ? `required ${others.join(", ")}` : `no ${tags.length > 0 ? "other " : ""}field required`;
  const takes = optional.length > 0 ? `; optional ${optional.join(", ")}` : "";
  const further = rest.variants.length > 0 ? "; further fields allowed" : "";
  const called = title === undefined ? "" : ` (${clipText(title, maxTitleBytes)})`;
  return `${tags.length > 0 ? `${tags.join(", ")}: ` : ""}${needs}${takes}${further}${called}`;
}

function toValuesText(field: Field): string | undefined {
  const values = listedValues(field);
  if (values === undefined) return undefined;
  const texts = [...new Set(values.map((value) => JSON.stringify(value)))];
  const more = texts.length > maxValues ? [`${texts.length - maxValues} more`] : [];
  const all = [...texts.slice(0, maxValues), ...more];
  return all.length === 1 ? all[0] : `${all.slice(0, -1).join(", ")} or ${all.at(-1) ?? ""}`;
}

/** Returns whether a node, or a part that describes the same object, has a rule that no list shows. */
function hidesRules(node: JsonObject, keywords: readonly string[] = lostKeywords): boolean {
  if (keywords.some((keyword) => node[keyword] !== undefined && !isAnyName(keyword, node[keyword]))) return true;
  return [...joinedNodes(node), ...unionsOf(node).flat()].some((part) => hidesRules(part, lostBelowKeywords));
}
