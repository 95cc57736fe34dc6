import type * as z from "zod";
import { zodInternals } from "./zod-schema.ts";

/** What the checks of a schema bound, as far as JSON Schema can say it. */
export interface ZodBounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly divisors: readonly number[];
  readonly patterns: readonly RegExp[];
  readonly format?: string;
  readonly isInteger: boolean;
  readonly mimeTypes?: readonly string[];
}

type Definition = Readonly<Record<string, unknown>>;

type Bound = "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum";

type Writable = { -readonly [Key in keyof ZodBounds]: ZodBounds[Key] } & { divisors: number[]; patterns: RegExp[] };

// The ranges of the other formats are those of the number type itself, which say nothing to an agent.
const ranges: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-2147483648, 2147483647],
  uint32: [0, 4294967295],
};
// Formats for which zod declares a shape that the keyword of JSON Schema would refuse.
const looseDates = (def: Definition): boolean => def["local"] === true || def["precision"] === -1;

const readers: Readonly<Record<string, (bounds: Writable, def: Definition) => void>> = {
  greater_than: (bounds, def) =>
    narrow(bounds, def["inclusive"] === true ? "minimum" : "exclusiveMinimum", def["value"]),
  less_than: (bounds, def) => narrow(bounds, def["inclusive"] === true ? "maximum" : "exclusiveMaximum", def["value"]),
  multiple_of: (bounds, def) => addDivisor(bounds, def["value"]),
  number_format: (bounds, { format }) => addNumberFormat(bounds, String(format)),
  min_length: (bounds, def) => narrow(bounds, "minimum", def["minimum"]),
  max_length: (bounds, def) => narrow(bounds, "maximum", def["maximum"]),
  length_equals: (bounds, def) => narrowBoth(bounds, def["length"]),
  min_size: (bounds, def) => narrow(bounds, "minimum", def["minimum"]),
  max_size: (bounds, def) => narrow(bounds, "maximum", def["maximum"]),
  size_equals: (bounds, def) => narrowBoth(bounds, def["size"]),
  string_format: addStringFormat,
  mime_type: (bounds, { mime }) => addMimeTypes(bounds, mime),
};

/** Reads the checks of a schema, from its definition: the same in every version of zod 4. */
export function readZodBounds(schema: z.core.$ZodType): ZodBounds {
  const bounds: Writable = { divisors: [], patterns: [], isInteger: false };
  const { def, bag } = zodInternals(schema);
  for (const check of [def, ...(def.checks ?? []).map((each) => zodInternals(each).def)]) {
    // Definitions are plain objects; which fields they have is what the readers look at.
    const read = { ...check } as Definition;
    if (typeof read["check"] === "string") readers[read["check"]]?.(bounds, read);
  }
  // Formats whose pattern an older zod makes when it attaches the check, and says in no definition.
  const attached: unknown = bag["patterns"];
  if (attached instanceof Set) for (const pattern of attached) addPattern(bounds, pattern);
  return bounds;
}

function narrow(bounds: Writable, key: Bound, value: unknown): void {
  if (typeof value !== "number" || !Number.isFinite(value)) return;
  const before = bounds[key];
  const isMinimum = key === "minimum" || key === "exclusiveMinimum";
  if (before === undefined || (isMinimum ? value > before : value < before)) bounds[key] = value;
}

function narrowBoth(bounds: Writable, value: unknown): void {
  narrow(bounds, "minimum", value);
  narrow(bounds, "maximum", value);
}

function addDivisor(bounds: Writable, value: unknown): void {
  if (typeof value !== "number" || !Number.isFinite(value) || value === 0) return;
  if (!bounds.divisors.includes(Math.abs(value))) bounds.divisors.push(Math.abs(value));
}

function addNumberFormat(bounds: Writable, format: string): void {
  if (format.includes("int")) bounds.isInteger = true;
  const [minimum, maximum] = ranges[format] ?? [];
  narrow(bounds, "minimum", minimum);
  narrow(bounds, "maximum", maximum);
}

function addStringFormat(bounds: Writable, def: Definition): void {
  if (typeof def["format"] === "string" && !looseDates(def)) bounds.format = def["format"];
  else delete bounds.format;
  addPattern(bounds, def["pattern"]);
}

function addPattern(bounds: Writable, pattern: unknown): void {
  if (pattern instanceof RegExp && !bounds.patterns.includes(pattern)) bounds.patterns.push(pattern);
}

function addMimeTypes(bounds: Writable, mime: unknown): void {
  if (!Array.isArray(mime)) return;
  const given = mime.map(String);
  bounds.mimeTypes = bounds.mimeTypes?.filter((type) => given.includes(type)) ?? given;
}
