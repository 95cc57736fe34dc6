import type * as z from "zod";
import { jsonTypeOf } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { absentNode, formlessNode } from "./schema-document.ts";
import type { SchemaNode } from "./schema-document.ts";
import { bigintSchema, dateSchema, wireKey } from "./wire-forms.ts";
import type { WireForm } from "./wire-forms.ts";
import { zodInternals } from "./zod-schema.ts";

/** The bounds of a schema's checks that JSON Schema can express. */
interface ZodBounds {
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  readonly divisors: number[];
  readonly patterns: RegExp[];
  format?: string;
  isInteger: boolean;
}

type Definition = Readonly<Record<string, unknown>>;

type Bound = "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum";

// Formats of zod that JSON Schema names differently, or not at all.
const formatNames: ReadonlyMap<string | undefined, string | undefined> = new Map([
  ["guid", "uuid"],
  ["url", "uri"],
  ["datetime", "date-time"],
  // zod's times have no offset, which the format of JSON Schema requires.
  ["time", undefined],
  // In JSON Schema the format of a text that is itself a pattern.
  ["regex", undefined],
]);
// zod's own patterns for these differ from version to version.
const encodings: ReadonlyMap<string, string> = new Map([
  ["base64", "^$|^(?:[0-9a-zA-Z+/]{4})*(?:(?:[0-9a-zA-Z+/]{2}==)|(?:[0-9a-zA-Z+/]{3}=))?$"],
  ["base64url", "^[A-Za-z0-9_-]*$"],
]);
/** Marks values that may not be JSON although their type is, for example undefined in an array. */
export const checkedForm: WireForm = "checked";

const plainLeaves: Readonly<Record<string, SchemaNode>> = {
  any: {},
  unknown: {},
  custom: {},
  transform: {},
  never: { not: {} },
  null: { type: "null" },
  boolean: { type: "boolean" },
  success: { type: "boolean" },
  date: dateSchema,
  bigint: bigintSchema,
  undefined: absentNode(),
  void: absentNode(),
  symbol: formlessNode("symbol"),
  function: formlessNode("function"),
  file: formlessNode("File"),
  nan: formlessNode("NaN"),
};

// The ranges of the other formats are those of the number type itself, and of no use to an agent.
const ranges: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-2147483648, 2147483647],
  uint32: [0, 4294967295],
};
const readers: Readonly<Record<string, (bounds: ZodBounds, def: Definition) => void>> = {
  greater_than: (bounds, def) =>
    narrow(bounds, def["inclusive"] === true ? "minimum" : "exclusiveMinimum", def["value"]),
  less_than: (bounds, def) => narrow(bounds, def["inclusive"] === true ? "maximum" : "exclusiveMaximum", def["value"]),
  multiple_of: (bounds, def) => addDivisor(bounds, def["value"]),
  number_format: (bounds, { format }) => addNumberFormat(bounds, String(format)),
  min_length: (bounds, def) => narrow(bounds, "minimum", def["minimum"]),
  max_length: (bounds, def) => narrow(bounds, "maximum", def["maximum"]),
  length_equals: (bounds, def) => narrowBoth(bounds, def["length"]),
  string_format: addStringFormat,
};

/** Converts a zod schema that holds no other schema; undefined for any other. */
export function leafNode(schema: z.core.$ZodTypes): SchemaNode | undefined {
  const { def } = zodInternals(schema);
  switch (def.type) {
    case "string":
      return textNode(readZodBounds(schema));
    case "number":
      return numberNode(readZodBounds(schema), def.checks);
    case "enum":
      return valuesNode(enumValues(def.entries));
    case "literal":
      return literalNode(def.values);
    case "template_literal":
      return { type: "string", pattern: patternOf(schema) };
    default:
      return Object.hasOwn(plainLeaves, def.type) ? plainLeaves[def.type] : undefined;
  }
}

/** Returns the keywords that bound the number of items of an array. */
export function countKeywords(schema: z.core.$ZodType): SchemaNode {
  const { minimum, maximum } = readZodBounds(schema);
  return defined({ minItems: minimum, maxItems: maximum });
}

/** Returns the sources of patterns without flags. JSON Schema has no flags: "ok" for `/ok/i` would refuse values that zod accepts. */
export function patternSources(patterns: readonly RegExp[]): readonly string[] {
  return patterns.filter(({ flags }) => !/[ims]/.test(flags)).map(({ source }) => source);
}

function textNode({ minimum, maximum, format, patterns }: ZodBounds): SchemaNode {
  const encoding = encodings.get(format ?? "");
  const sources = encoding === undefined ? patternSources(patterns) : [encoding];
  return defined({
    type: "string",
    minLength: minimum,
    maxLength: maximum,
    format: formatNames.has(format) ? formatNames.get(format) : format,
    contentEncoding: encoding === undefined ? undefined : format,
    pattern: sources.length === 1 ? sources[0] : undefined,
    allOf: sources.length > 1 ? sources.map((source) => ({ pattern: source })) : undefined,
  });
}

function numberNode(bounds: ZodBounds, checks: readonly z.core.$ZodCheck[] = []): SchemaNode {
  const [divisor, ...others] = bounds.divisors;
  // An overwrite may make NaN of a number.
  const isOverwritten = checks.some((check) => zodInternals(check).def.check === "overwrite");
  return defined({
    type: bounds.isInteger ? "integer" : "number",
    ...rangeKeywords(bounds),
    multipleOf: divisor,
    allOf: others.length === 0 ? undefined : others.map((multipleOf) => ({ multipleOf })),
    [wireKey]: isOverwritten ? checkedForm : undefined,
  });
}

/** Returns the range keywords: of an inclusive and an exclusive bound on one side the narrower. */
function rangeKeywords({ minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below }: ZodBounds): SchemaNode {
  const isAbove = above !== undefined && above >= (minimum ?? Number.NEGATIVE_INFINITY);
  const isBelow = below !== undefined && below <= (maximum ?? Number.POSITIVE_INFINITY);
  return {
    ...(isAbove ? { exclusiveMinimum: above } : { minimum }),
    ...(isBelow ? { exclusiveMaximum: below } : { maximum }),
  };
}

/** Returns a node without the keywords that are undefined. */
export function defined(node: SchemaNode): SchemaNode {
  const kept: Record<string, unknown> = {};
  for (const key of Object.keys(node)) if (node[key] !== undefined) kept[key] = node[key];
  return kept;
}

/** Returns the values of an enum. A TypeScript enum maps its numbers back to their names, which are no values. */
function enumValues(entries: z.core.util.EnumLike): readonly (string | number)[] {
  const numbers = new Set(Object.values(entries).filter((value) => typeof value === "number"));
  return Object.entries(entries).flatMap(([key, value]) => (numbers.has(Number(key)) ? [] : [value]));
}

/** Converts a literal: JSON values, and bigints in a separate arm. */
function literalNode(values: readonly z.core.util.Literal[]): SchemaNode {
  const bigints = values.filter((value) => typeof value === "bigint").map(String);
  const others = values.filter((value): value is Exclude<typeof value, bigint | undefined> => {
    return value !== undefined && typeof value !== "bigint";
  });
  const arms: JsonObject[] = [];
  if (others.length > 0) arms.push(valuesNode(others));
  if (bigints.length > 0) arms.push({ ...bigintSchema, enum: bigints });
  const [only] = arms;
  if (only === undefined) return values.length === 0 ? { not: {} } : absentNode();
  return arms.length === 1 ? only : { anyOf: arms };
}

function valuesNode(values: readonly JsonValue[]): JsonObject {
  const [first] = values;
  if (first === undefined) return { not: {} };
  const type = jsonTypeOf(first);
  const isOfOneType = values.every((value) => jsonTypeOf(value) === type);
  return { ...(isOfOneType ? { type } : {}), ...(values.length === 1 ? { const: first } : { enum: [...values] }) };
}

function patternOf(schema: z.core.$ZodTypes): string | undefined {
  const pattern: unknown = Reflect.get(zodInternals(schema), "pattern");
  return pattern instanceof RegExp ? pattern.source : undefined;
}

/** Reads the checks of a schema, from its definition: the same in every version of zod 4. */
export function readZodBounds(schema: z.core.$ZodType): ZodBounds {
  const bounds: ZodBounds = { divisors: [], patterns: [], isInteger: false };
  const { def, bag } = zodInternals(schema);
  for (const check of [def, ...(def.checks ?? []).map((each) => zodInternals(each).def)]) {
    // Definitions are plain objects, and the readers check their fields.
    const read = { ...check } as Definition;
    if (typeof read["check"] === "string") readers[read["check"]]?.(bounds, read);
  }
  // An older zod creates the patterns of some formats when it attaches the check, and has them in no definition.
  const attached: unknown = bag["patterns"];
  if (attached instanceof Set) for (const pattern of attached) addPattern(bounds, pattern);
  return bounds;
}

function narrow(bounds: ZodBounds, key: Bound, value: unknown): void {
  if (typeof value !== "number" || !Number.isFinite(value)) return;
  const before = bounds[key];
  const isMinimum = key === "minimum" || key === "exclusiveMinimum";
  if (before === undefined || (isMinimum ? value > before : value < before)) bounds[key] = value;
}

function narrowBoth(bounds: ZodBounds, value: unknown): void {
  narrow(bounds, "minimum", value);
  narrow(bounds, "maximum", value);
}

function addDivisor(bounds: ZodBounds, value: unknown): void {
  if (typeof value !== "number" || !Number.isFinite(value) || value === 0) return;
  if (!bounds.divisors.includes(Math.abs(value))) bounds.divisors.push(Math.abs(value));
}

function addNumberFormat(bounds: ZodBounds, format: string): void {
  if (format.includes("int")) bounds.isInteger = true;
  const [minimum, maximum] = ranges[format] ?? [];
  narrow(bounds, "minimum", minimum);
  narrow(bounds, "maximum", maximum);
}

function addStringFormat(bounds: ZodBounds, def: Definition): void {
  const { format, local, precision, pattern } = def;
  // The format of JSON Schema would refuse dates without an offset or seconds.
  if (typeof format === "string" && local !== true && precision !== -1) bounds.format = format;
  else delete bounds.format;
  addPattern(bounds, pattern);
}

function addPattern(bounds: ZodBounds, pattern: unknown): void {
  if (pattern instanceof RegExp && !bounds.patterns.includes(pattern)) bounds.patterns.push(pattern);
}
