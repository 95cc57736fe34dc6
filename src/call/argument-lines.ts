import { isJsonObject, isPlainObject, type JsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import { fieldAt, fieldsOf } from "../schema/object-fields.ts";
import { shortText, visibleText } from "../schema/visible-text.ts";
import { digestOf } from "./digest-of.ts";

/** Stands for a part without a text, such as a function or an instance of a class without fields. */
const notShown = "(a value that cannot be shown)";

/** Levels at most, as a value may have on the wire. */
const maxDepth = 512;

/** Lines at most, one a value. */
const maxLines = 50;

/** UTF-16 units of all values together, and of all paths. Each has an equal share, and at least `minValueLength`. */
const maxValuesLength = 2048;
const minValueLength = 80;

/** Characters of the digest of a path that is cut, of 6 bits each. */
const digestLength = 8;

/** UTF-16 units of a name at each end, of which no path shows more. */
const maxNameEnd = maxValuesLength / 2;

/** Objects and lists at most of which the last line names the values that are left out. */
const maxRanges = 8;

/** Other names are quoted, so that no name looks like a path, or like a line of the question that begins with a dash. */
const plainName = /^\w[\w-]*$/;

/** The label of the tool's name, which stands above the arguments. An argument of that name is quoted. */
const toolLabel = /^tool$/i;

/** Tells whether the JSON of a value has at most so many characters, escaped as the user reads it. Looks at no more of a large value. */
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
  return room >= 0 && visibleText(JSON.stringify(value)).length <= length;
}

/** Tells whether a value has a line without lines for its parts: it fits into the smallest share, or has no parts. */
function isWhole(value: JsonValue): boolean {
  return typeof value !== "object" || value === null || fits(value, minValueLength);
}

function countValues(value: JsonValue): number {
  if (isWhole(value)) return 1;
  // Only objects and lists are not whole.
  const parts: readonly JsonValue[] = Object.values(value as JsonObject | readonly JsonValue[]);
  return parts.reduce<number>((sum, part) => sum + countValues(part), 0);
}

/** Cuts a name that no path shows whole: each path below it would repeat it. Its digest tells it from names with the same ends. */
function shortName(name: string): string {
  return name.length <= 2 * maxNameEnd + digestLength
    ? name
    : `${name.slice(0, maxNameEnd)}${digestOf(name)}${name.slice(-maxNameEnd)}`;
}

class Part {
  readonly value: JsonValue;
  /** The number of its parts that have lines. */
  shown = 0;
  /** The number of members that the schema declares: the first of {@link parts}. A caller can add other parts, but none of these. */
  declared = 0;
  /** UTF-16 units of the path with whole names. */
  readonly length: number;
  readonly #segment: string;
  readonly #above: Part | undefined;
  /** The schemas of which the value meets one. */
  readonly #schemas: readonly JsonObject[];
  #parts: readonly Part[] | undefined;
  #digest: string | undefined;

  constructor(
    value: JsonValue,
    schemas: readonly (JsonValue | undefined)[],
    at?: readonly [segment: string, above: Part, cut?: number],
  ) {
    this.value = value;
    this.#schemas = schemas.filter(isJsonObject);
    const [segment, above, cut = 0] = at ?? ["", undefined];
    this.#segment = segment;
    this.#above = above;
    this.length = (above?.length ?? 0) + segment.length + cut;
  }

  get path(): string {
    return `${this.#above?.path ?? ""}${this.#segment}`;
  }

  /** Names the path, each segment by the digest of those above it: long names are read once, however many parts they have. */
  get digest(): string {
    this.#digest ??= digestOf([this.#above?.digest ?? "", this.#segment]);
    return this.#digest;
  }

  get parts(): readonly Part[] {
    this.#parts ??= this.#open();
    return this.#parts;
  }

  #open(): readonly Part[] {
    const { value } = this;
    if (this.#above !== undefined && isWhole(value)) return [];
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
      const short = shortName(name);
      return new Part(value[name] ?? null, schemas, [this.#toSegment(short), this, name.length - short.length]);
    });
  }

  #toSegment(name: string): string {
    const isTop = this.#above === undefined;
    if (plainName.test(name) && !(isTop && toolLabel.test(name))) return `${isTop ? "" : "."}${name}`;
    const quoted = JSON.stringify(name);
    return isTop ? quoted : `[${quoted}]`;
  }
}

/** Paths that are cut differ by their digests. */
function shortPath(part: Part, maxLength: number): string {
  return shortText(part.path, maxLength, () => `${part.length} characters, ${part.digest.slice(0, digestLength)}`);
}

/**
 * Chooses the values that have lines. Members that the schema declares come first, level by level. Then each object and list gets
 * one more in turn, so that a long one does not use up the room of the others.
 */
function chooseLines(top: Part): void {
  let room = maxLines;
  const showNext = (part: Part): Part | undefined => {
    const next = room > 0 ? part.parts[part.shown] : undefined;
    if (next === undefined) return undefined;
    // The first of them takes the line of the whole.
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

/** The values that have lines, in order, and the ranges of those that have none. */
interface Chosen {
  readonly lines: Part[];
  readonly leftOut: { readonly range: string; readonly count: number }[];
}

function toLeftOut(parts: readonly Part[]): Chosen["leftOut"] {
  const ends = [...new Set([...parts.slice(0, 1), ...parts.slice(-1)])];
  const paths = ends.map((part) => shortPath(part, minValueLength));
  const count = parts.reduce((sum, { value }) => sum + countValues(value), 0);
  return count === 0 ? [] : [{ range: paths.join(" to "), count }];
}

function collect(part: Part, chosen: Chosen): Chosen {
  const { parts } = part;
  for (const one of parts.slice(0, part.shown)) {
    if (one.shown > 0) collect(one, chosen);
    else {
      chosen.lines.push(one);
      // There was room for the start and the end of its JSON only.
      if (!isWhole(one.value)) chosen.leftOut.push(...toLeftOut([one]));
    }
  }
  chosen.leftOut.push(...toLeftOut(parts.slice(part.shown)));
  return chosen;
}

function toLastLine(leftOut: Chosen["leftOut"]): string {
  if (leftOut.length === 0) return "";
  const count = leftOut.reduce((sum, one) => sum + one.count, 0);
  const ranges = leftOut.slice(0, maxRanges).map(({ range }) => range);
  if (leftOut.length > maxRanges) ranges.push("…");
  return `\n… and ${count} more ${count === 1 ? "value" : "values"}: ${ranges.join(", ")}`;
}

/**
 * Writes the arguments that a user is to confirm, one value a line, each behind its path: `order.to: "ada"`. A long text loses its
 * middle, and so does a long path, whose digest stands there. Of an object or list that does not fit whole, each value has a line. The last line counts the values without one, and
 * says where they are.
 */
export function argumentLines(args: JsonObject, schema: JsonSchema): string {
  const top = new Part(args, [schema]);
  chooseLines(top);
  const { lines, leftOut } = collect(top, { lines: [], leftOut: [] });
  const maxLength = Math.max(minValueLength, Math.floor(maxValuesLength / lines.length));
  const shown = lines.map((part) => {
    return `\n${shortPath(part, maxLength)}: ${shortText(JSON.stringify(part.value), maxLength)}`;
  });
  return shown.join("") + toLastLine(leftOut);
}

/**
 * Writes a validated value as JSON for a user. Dates, bigints, maps and sets have their form on the wire, and bytes are base64. A
 * part without a text is replaced by a sentence, so that every other part is shown. Never throws.
 */
export function toShownJson(value: unknown, above: Set<object> = new Set()): JsonValue {
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
      return value === null ? null : writeObject(value, above);
    default:
      return notShown;
  }
}

function writeObject(value: object, above: Set<object>): JsonValue {
  if (above.has(value) || above.size > maxDepth) return notShown;
  above.add(value);
  try {
    return writeParts(value, (part) => toShownJson(part, above));
  } catch {
    // An invalid date, or code of the author's that throws.
    return notShown;
  } finally {
    above.delete(value);
  }
}

function writeParts(value: object, write: (part: unknown) => JsonValue): JsonValue {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof RegExp) return String(value);
  // Before toJSON: that of a Buffer lists its bytes.
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value) || value instanceof Set || value instanceof Map) {
    return Array.from<unknown, JsonValue>(value, write);
  }
  // It is a function.
  if ("toJSON" in value && typeof value.toJSON === "function") return write((value as { toJSON(): unknown }).toJSON());
  return writeFields(value, write);
}

/** Writes each field by itself: a getter that throws hides none of the others. Fields that are undefined are left out. */
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
