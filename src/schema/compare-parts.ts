import { canonicalText } from "./canonical-text.ts";
import type { SchemaSide } from "./compiled-schema.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** Two nodes, the values of the one of which the other is to take, and where they stand. */
export interface NodePair {
  readonly producer: JsonObject;
  readonly consumer: JsonObject;
  /** Dotted, and empty at the root. */
  readonly path: string;
}

/** How parts are compared. */
export interface PartComparer {
  /** The side that the values are of: a field too many is dropped from an output, and refused of a closed input. */
  readonly side: SchemaSide;
  /** Returns where two parts differ. Undefined, as a part, accepts anything. */
  compare(producer: JsonValue | undefined, consumer: JsonValue | undefined, path: string): string | undefined;
}

/** The keywords that {@link compareObjects} and {@link compareArrays} compare. */
export const partKeywords: ReadonlySet<string> = new Set([
  ...["properties", "required", "patternProperties", "additionalProperties", "propertyNames"],
  ...["prefixItems", "items"],
]);

// Names are text, whatever else is said of them.
const anyName: JsonObject = { type: "string" };

/** Returns where the fields of two nodes differ. */
export function compareObjects(pair: NodePair, comparer: PartComparer): string | undefined {
  const { producer, consumer, path } = pair;
  if (!fitsPatterns(producer, consumer)) return path;
  const missing = findMissing(producer, consumer);
  if (missing !== undefined) return below(path, missing);
  const names = consumer["propertyNames"];
  return (
    firstOf(Object.entries(fieldsOf(consumer)), ([key, asked]) => compareAsked(pair, { key, part: asked }, comparer)) ??
    firstOf(Object.entries(fieldsOf(producer)), ([key, given]) => compareGiven(pair, { key, part: given }, comparer)) ??
    compareRest(pair, comparer) ??
    (names === undefined ? undefined : comparer.compare(producer["propertyNames"] ?? anyName, names, path))
  );
}

/** Returns where the items of two nodes differ. */
export function compareArrays({ producer, consumer, path }: NodePair, comparer: PartComparer): string | undefined {
  const [given, asked] = [tupleOf(producer), tupleOf(consumer)];
  const length = Math.max(given.length, asked.length);
  const most = typeof producer["maxItems"] === "number" ? producer["maxItems"] : Number.POSITIVE_INFINITY;
  const indexes = Array.from({ length: Math.min(length, most) }, (_, index) => index);
  const compareAt = (index: number) =>
    comparer.compare(given[index] ?? producer["items"], asked[index] ?? consumer["items"], below(path, String(index)));
  const rest = () => comparer.compare(producer["items"], consumer["items"], below(path, "*"));
  return firstOf(indexes, compareAt) ?? (most <= length ? undefined : rest());
}

interface Field {
  readonly key: string;
  readonly part: JsonValue | undefined;
}

/** A field that the consumer knows: of the same shape, or one that the producer cannot send, or never declares. */
function compareAsked({ producer, path }: NodePair, { key, part }: Field, comparer: PartComparer): string | undefined {
  const own = fieldsOf(producer);
  if (Object.hasOwn(own, key)) return comparer.compare(own[key], part, below(path, key));
  const { additionalProperties: rest } = producer;
  return rest === undefined || rest === false ? undefined : comparer.compare(rest, part, below(path, key));
}

/** A field that only the producer knows. */
function compareGiven({ consumer, path }: NodePair, { key, part }: Field, comparer: PartComparer): string | undefined {
  if (Object.hasOwn(fieldsOf(consumer), key)) return undefined;
  const { additionalProperties: rest } = consumer;
  if (rest !== false) return comparer.compare(part, rest, below(path, key));
  return comparer.side === "output" ? undefined : comparer.compare(part, false, below(path, key));
}

function compareRest({ producer, consumer, path }: NodePair, comparer: PartComparer): string | undefined {
  const [given, asked] = [producer["additionalProperties"], consumer["additionalProperties"]];
  if (asked !== false) return comparer.compare(given, asked, below(path, "*"));
  // Most libraries leave an input open that they strip: only what is declared counts.
  return comparer.side === "output" || given === undefined
    ? undefined
    : comparer.compare(given, false, below(path, "*"));
}

// Which names a pattern of the far end matches is not tried: it could be one that takes for ever.
function fitsPatterns(producer: JsonObject, consumer: JsonObject): boolean {
  const [given, asked] = [producer["patternProperties"], consumer["patternProperties"]];
  if (given === undefined && asked === undefined) return true;
  const isOpen = consumer["properties"] === undefined && consumer["additionalProperties"] === undefined;
  if (asked === undefined && isOpen) return true;
  return given !== undefined && asked !== undefined && isSameText(given, asked);
}

/** Tells whether two parts say the same by their text. A reference says another thing in another document. */
export function isSameText(given: JsonValue, asked: JsonValue): boolean {
  const text = canonicalText(given);
  return text === canonicalText(asked) && !text.includes('"$ref"');
}

function findMissing(producer: JsonObject, consumer: JsonObject): string | undefined {
  const given = new Set(namesOf(producer["required"]));
  return namesOf(consumer["required"]).find((key) => !given.has(key));
}

function namesOf(required: JsonValue | undefined): readonly string[] {
  return Array.isArray(required) ? required.map(String) : [];
}

function fieldsOf(node: JsonObject): JsonObject {
  return isJsonObject(node["properties"]) ? node["properties"] : {};
}

function tupleOf(node: JsonObject): readonly JsonValue[] {
  return Array.isArray(node["prefixItems"]) ? node["prefixItems"] : [];
}

function below(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function firstOf<$Item>(items: readonly $Item[], compare: (item: $Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = compare(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
