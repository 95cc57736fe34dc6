import { isJsonObject, isPlainObject, type JsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import { fieldAt, fieldsOf } from "../schema/object-fields.ts";
import { truncateMiddle, escapeInvisible } from "../schema/visible-text.ts";

/** Replaces a value without a text, such as a function or an instance without fields. */
const notShown = "(a value that cannot be shown)";

/** The maximum depth of a value, as on the wire. */
const maxDepth = 512;

/** The maximum number of lines, one a value. */
const maxLines = 50;

/** The total length of all values, and of all paths, in UTF-16 units. Each has an equal share, at least `minValueLength`. */
const maxValuesLength = 2048;
const minValueLength = 80;

/** The maximum number of objects and lists whose omitted values the last line names. */
const maxRanges = 8;

/** Names that need no quotes: they look neither like a path nor like a line that begins with a dash. */
const plainName = /^\w[\w-]*$/;

/** The label of the tool's name above the arguments. An argument with this name is quoted. */
const toolLabel = /^tool$/i;

/** Returns whether the escaped JSON of a value has at most `length` characters. Reads no more of a large value than that. */
function fits(value: JsonValue, length: number): boolean {
  let room = length;
  const measure = (part: JsonValue): void => {
    if (typeof part === "string") room -= part.length + 2;
    else if (typeof part !== "object" || part === null) room -= String(part).length;
    else {
      for (const [key, inner] of Object.entries(part)) {
        if (room < 0) return;
        room -= Array.isArray(part) ? 1 : key.length + 4;
        measure(inner ?? null);
      }
    }
  };
  measure(value);
  return room >= 0 && escapeInvisible(JSON.stringify(value)).length <= length;
}

/** Returns whether a value fits on one line: it has no parts, or fits into the smallest share. */
function isWhole(value: JsonValue): boolean {
  return typeof value !== "object" || value === null || fits(value, minValueLength);
}

function countValues(value: JsonValue): number {
  if (isWhole(value)) return 1;
  // Only objects and lists are not whole.
  const parts: readonly JsonValue[] = Object.values(value as JsonObject | readonly JsonValue[]);
  return parts.reduce<number>((sum, part) => sum + countValues(part), 0);
}

/** A value within the arguments, and its path. */
class Part {
  readonly value: JsonValue;
  /** The number of its parts that have lines. */
  shown = 0;
  /** The number of declared members: the first of {@link parts}. A caller cannot add to them. */
  declared = 0;
  readonly #segment: string;
  readonly #parent: Part | undefined;
  /** The schemas of which the value matches one. */
  readonly #schemas: readonly JsonObject[];
  #parts: readonly Part[] | undefined;

  constructor(
    value: JsonValue,
    schemas: readonly (JsonValue | undefined)[],
    at?: readonly [segment: string, parent: Part],
  ) {
    this.value = value;
    this.#schemas = schemas.filter(isJsonObject);
    [this.#segment, this.#parent] = at ?? ["", undefined];
  }

  get path(): string {
    return `${this.#parent?.path ?? ""}${this.#segment}`;
  }

  get parts(): readonly Part[] {
    return (this.#parts ??= this.#open());
  }

  #open(): readonly Part[] {
    const { value } = this;
    if (this.#parent !== undefined && isWhole(value)) return [];
    if (Array.isArray(value)) return this.#toItems(value);
    return isJsonObject(value) ? this.#toMembers(value) : [];
  }

  #toItems(list: readonly JsonValue[]): readonly Part[] {
    const schemas = this.#schemas.flatMap(({ items, prefixItems }) => [
      items,
      ...(Array.isArray(prefixItems) ? prefixItems : []),
    ]);
    return list.map((item, index) => new Part(item, schemas, [`[${index}]`, this]));
  }

  #toMembers(value: JsonObject): readonly Part[] {
    const fields = this.#schemas.map(fieldsOf);
    const known = fields.flatMap(({ named }) => [...named.keys()]).filter((name) => Object.hasOwn(value, name));
    this.declared = new Set(known).size;
    return [...new Set([...known, ...Object.keys(value)])].map((name) => {
      const schemas = fields.flatMap((each) => fieldAt(each, name).variants);
      return new Part(value[name] ?? null, schemas, [this.#toSegment(name), this]);
    });
  }

  #toSegment(name: string): string {
    const isTop = this.#parent === undefined;
    if (plainName.test(name) && !(isTop && toolLabel.test(name))) return `${isTop ? "" : "."}${name}`;
    const quoted = JSON.stringify(name);
    return isTop ? quoted : `[${quoted}]`;
  }
}

/**
 * Chooses the values that get lines: first the declared members, level by level, then one value of each object and list in turn, so
 * that a long one leaves room for the others.
 */
function chooseLines(top: Part): void {
  let room = maxLines;
  const showNext = (part: Part): Part | undefined => {
    const next = room > 0 ? part.parts[part.shown] : undefined;
    if (next === undefined) return undefined;
    // The first part takes the line of the whole.
    if (part === top || part.shown > 0) room -= 1;
    part.shown += 1;
    return next;
  };
  const turns = [top];
  for (const part of turns) {
    while (part.shown < part.parts.length && part.shown < part.declared) {
      const next = showNext(part);
      if (next === undefined) return;
      turns.push(next);
    }
  }
  for (const part of turns) {
    const next = showNext(part);
    if (next !== undefined) turns.push(next, part);
  }
}

/** The values with lines, in order, and the ranges of the omitted ones. */
interface Chosen {
  readonly lines: Part[];
  readonly omitted: { readonly range: string; readonly count: number }[];
}

function toOmitted(parts: readonly Part[]): Chosen["omitted"] {
  const ends = [...new Set([...parts.slice(0, 1), ...parts.slice(-1)])];
  const paths = ends.map(({ path }) => truncateMiddle(path, minValueLength));
  const count = parts.reduce((sum, { value }) => sum + countValues(value), 0);
  return count === 0 ? [] : [{ range: paths.join(" to "), count }];
}

function collect(part: Part, chosen: Chosen): Chosen {
  const { parts } = part;
  for (const one of parts.slice(0, part.shown)) {
    if (one.shown > 0) collect(one, chosen);
    else {
      chosen.lines.push(one);
      // Its line shows only the start and the end of its JSON.
      if (!isWhole(one.value)) chosen.omitted.push(...toOmitted([one]));
    }
  }
  chosen.omitted.push(...toOmitted(parts.slice(part.shown)));
  return chosen;
}

function toLastLine(omitted: Chosen["omitted"]): string {
  if (omitted.length === 0) return "";
  const count = omitted.reduce((sum, one) => sum + one.count, 0);
  const ranges = omitted.slice(0, maxRanges).map(({ range }) => range);
  if (omitted.length > maxRanges) ranges.push("…");
  return `\n… and ${count} more ${count === 1 ? "value" : "values"}: ${ranges.join(", ")}`;
}

/**
 * Writes the arguments of a confirmation, one value a line: `order.to: "ada"`. Cuts the middle out of a long text or path. An object
 * or list that does not fit on its line gets a line for each value. The last line counts and locates the omitted values.
 */
export function argumentLines(args: JsonObject, schema: JsonSchema): string {
  const top = new Part(args, [schema]);
  chooseLines(top);
  const { lines, omitted } = collect(top, { lines: [], omitted: [] });
  const maxLength = Math.max(minValueLength, Math.floor(maxValuesLength / lines.length));
  const shown = lines.map(({ path, value }) => {
    return `\n${truncateMiddle(path, maxLength)}: ${truncateMiddle(JSON.stringify(value), maxLength)}`;
  });
  return shown.join("") + toLastLine(omitted);
}

/**
 * Converts a validated value to JSON for a user. Dates, bigints, maps and sets have their wire form; bytes are base64. A sentence
 * replaces a part without a text. Never throws.
 */
export function toShownJson(value: unknown, parents: Set<object> = new Set()): JsonValue {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return String(value);
    case "undefined":
      return null;
    case "object":
      return value === null ? null : writeObject(value, parents);
    default:
      return notShown;
  }
}

function writeObject(value: object, parents: Set<object>): JsonValue {
  if (parents.has(value) || parents.size > maxDepth) return notShown;
  parents.add(value);
  try {
    return writeParts(value, (part) => toShownJson(part, parents));
  } catch {
    // An invalid date, or a getter or method that throws.
    return notShown;
  } finally {
    parents.delete(value);
  }
}

function writeParts(value: object, write: (part: unknown) => JsonValue): JsonValue {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof RegExp) return String(value);
  // Before toJSON, since that of a Buffer lists its bytes.
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value) || value instanceof Set || value instanceof Map) {
    return Array.from<unknown, JsonValue>(value, write);
  }
  // Checked to be a function.
  if ("toJSON" in value && typeof value.toJSON === "function") return write((value as { toJSON(): unknown }).toJSON());
  return writeFields(value, write);
}

/** Writes each field alone, so that a getter that throws hides no other field. Leaves out undefined fields. */
function writeFields(value: object, write: (part: unknown) => JsonValue): JsonValue {
  const names = Object.keys(value);
  if (names.length === 0 && !isPlainObject(value)) return notShown;
  const fields = names.flatMap((name): [string, JsonValue][] => {
    try {
      const field: unknown = Reflect.get(value, name);
      return field === undefined ? [] : [[name, write(field)]];
    } catch {
      return [[name, notShown]];
    }
  });
  return Object.fromEntries(fields);
}
