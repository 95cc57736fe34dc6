import { isCompatible } from "../schema/compare-shapes.ts";
import { canonicalText, getOwn, isJsonObject, toList, type JsonObject, type JsonValue } from "../schema/json.ts";
import { isAnyName } from "../schema/keywords.ts";
import type { SchemaSide } from "../schema/standard.ts";
import { axes, keysOf, type Axes, type Change } from "./difference.ts";
import { closeObjects, pickKeywords, toConstraints } from "./schema-forms.ts";

/** Two nodes at one place of both schemas. */
interface NodePair {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly side: SchemaSide;
  readonly path: readonly string[];
}

type Part = JsonValue | undefined;

/** The axes of a change of a field in an object. */
type FieldAxes = Readonly<Record<"added" | "addedRequired" | "removed" | "toOptional" | "toRequired" | "closed", Axes>>;

const fieldAxes: Readonly<Record<SchemaSide, FieldAxes>> = {
  input: {
    // A required field takes values that agents could not send before.
    ...{ added: axes.widens, addedRequired: axes.replaces, removed: axes.breaks },
    ...{ toOptional: axes.widens, toRequired: axes.breaks, closed: axes.breaks },
  },
  output: {
    ...{ added: axes.widens, addedRequired: axes.widens, removed: axes.breaks },
    ...{ toOptional: axes.breaks, toRequired: axes.neutral, closed: axes.narrows },
  },
};

/**
 * Compares two versions of the schema of an input or output, field by field. A part that it cannot take apart is compared as a whole,
 * as contracts of links are; a part whose direction is unknown widens and breaks. Never throws.
 *
 * @param before - `undefined`: any JSON.
 * @param after - `undefined`: any JSON.
 */
export function compareSchemas(before: Part, after: Part, side: SchemaSide): readonly Change[] {
  if (before !== undefined && after !== undefined) {
    return compareNodes({ before: toNode(before), after: toNode(after), side, path: [] });
  }
  const isTyped = side === "output" && before === undefined;
  return [{ path: [], before, after, ...(isTyped ? axes.narrows : axes.replaces) }];
}

function toNode(part: Part): JsonObject {
  if (isJsonObject(part)) return part;
  return part === false ? { not: {} } : {};
}

function isSame(before: Part, after: Part): boolean {
  return before === undefined || after === undefined
    ? before === after
    : canonicalText(before) === canonicalText(after);
}

function compareNodes(pair: NodePair): readonly Change[] {
  const { before, after } = pair;
  if (isSame(before, after)) return [];
  const words = compareAnnotations(pair);
  const [was, is] = [pickKeywords(before, "constraints"), pickKeywords(after, "constraints")];
  if (isSame(was, is)) return words;
  if (isPlainObject(was) && isPlainObject(is)) return [...words, ...compareFields(pair)];
  const [{ items: itemsBefore, ...listBefore }, { items: itemsAfter, ...listAfter }] = [was, is];
  const isList = isJsonObject(itemsBefore) && isJsonObject(itemsAfter) && isSame(listBefore, listAfter);
  if (isList) return [...words, ...comparePart(pair, "[]", [itemsBefore, itemsAfter])];
  return [...words, compareWhole(pair)];
}

function comparePart(pair: NodePair, step: string, [before, after]: readonly [Part, Part]): readonly Change[] {
  return compareNodes({ ...pair, before: toNode(before), after: toNode(after), path: [...pair.path, step] });
}

/** Compares the texts and defaults of two nodes. Models read them. */
function compareAnnotations({ before, after, path }: NodePair): readonly Change[] {
  const [was, is] = [pickKeywords(before, "annotations"), pickKeywords(after, "annotations")];
  return keysOf(was, is)
    .filter((key) => !isSame(was[key], is[key]))
    .map((key) => ({ path: [...path, key], before: was[key], after: is[key], ...axes.widens }));
}

const objectKeywords: ReadonlySet<string> = new Set(["type", "properties", "required", "additionalProperties"]);

/** Returns whether a node is an object whose fields have nothing to do with each other. */
function isPlainObject(constraints: JsonObject): boolean {
  const others = Object.keys(constraints).filter((key) => !objectKeywords.has(key));
  return constraints["type"] === "object" && others.every((key) => isAnyName(key, constraints[key]));
}

function requiredOf({ required }: JsonObject): ReadonlySet<string> {
  return new Set(toList(required).filter((name) => typeof name === "string"));
}

function compareFields(pair: NodePair): readonly Change[] {
  const { before, after, side, path } = pair;
  const verdicts = fieldAxes[side];
  const [was, is] = [toNode(before["properties"]), toNode(after["properties"])];
  const [neededBefore, neededAfter] = [requiredOf(before), requiredOf(after)];
  // An object that keeps other fields takes any value under a name that it declares no more.
  const removed = opennessOf(after["additionalProperties"]) === 2 ? axes.replaces : verdicts.removed;
  // A required field need not be declared.
  const names = new Set([...keysOf(was, is), ...neededBefore, ...neededAfter]);
  const changes = [...names].toSorted().flatMap((name): readonly Change[] => {
    const [from, to] = [getOwn(was, name), getOwn(is, name)];
    const place = { path: [...path, name], before: from, after: to };
    if (from === undefined && to !== undefined)
      return [{ ...place, ...(neededAfter.has(name) ? verdicts.addedRequired : verdicts.added) }];
    if (from !== undefined && to === undefined) return [{ ...place, ...removed }];
    const parts = comparePart(pair, name, [from, to]);
    if (neededBefore.has(name) === neededAfter.has(name)) return parts;
    const [required, optional] = ["required", "optional"];
    return neededAfter.has(name)
      ? [...parts, { path: place.path, before: optional, after: required, ...verdicts.toRequired }]
      : [...parts, { path: place.path, before: required, after: optional, ...verdicts.toOptional }];
  });
  return [...changes, ...compareRest(pair)];
}

/** Returns how open an object is for fields that it does not declare: it refuses them, says nothing, or has a schema for them. */
function opennessOf(rest: Part): number {
  if (rest === undefined) return 1;
  return rest === false ? 0 : 2;
}

/** Compares the schemas of fields that are not declared. */
function compareRest(pair: NodePair): readonly Change[] {
  const [before, after] = [pair.before["additionalProperties"], pair.after["additionalProperties"]];
  if (isSame(before, after)) return [];
  const opened = opennessOf(after) - opennessOf(before);
  if (opened === 0) return comparePart(pair, "*", [before, after]);
  // Some validators take any field then, and others drop it.
  const isFreed = after === undefined && opened < 0;
  if (isFreed) return [{ path: [...pair.path, "*"], before, after, ...axes.replaces }];
  return [{ path: [...pair.path, "*"], before, after, ...(opened > 0 ? axes.widens : fieldAxes[pair.side].closed) }];
}

/** Returns the alternatives of a node that is nothing else. */
function armsOf(node: JsonObject): readonly JsonValue[] {
  const { anyOf, ...others } = node;
  return Array.isArray(anyOf) && Object.keys(others).length === 0 ? anyOf : [node];
}

/** Returns whether every value of one schema is a value of the other. */
function fits(producer: JsonObject, consumer: JsonObject): boolean {
  return armsOf(producer).every((from) =>
    armsOf(consumer).some(
      (to) => isCompatible({ producer: toNode(from), consumer: toNode(to), side: "input" }) === true,
    ),
  );
}

function compareWhole({ before, after, side, path }: NodePair): Change {
  const change = { path, before, after };
  const [was, is] = [toConstraints(before), toConstraints(after)];
  // Only texts below this node differ.
  if (isSame(was, is)) return { ...change, ...axes.widens };
  const [closedBefore, closedAfter] = [closeObjects(was), closeObjects(is)];
  const [isKnown, isKept] = [fits(closedAfter, closedBefore), fits(closedBefore, closedAfter)];
  if (isKnown === isKept) return { ...change, ...axes.replaces };
  if (isKept) return { ...change, ...(side === "input" ? axes.widens : axes.replaces) };
  return { ...change, ...(side === "input" ? axes.breaks : axes.narrows) };
}
