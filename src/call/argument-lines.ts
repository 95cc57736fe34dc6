import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import { shortText } from "../schema/visible-text.ts";

/** The length of all values that a user is shown, in UTF-16 units; each has an equal share, and at least `minValueLength`. */
const maxValuesLength = 2048;
const minValueLength = 80;

/** The length of the path of a value that a user is shown, in UTF-16 units. */
const maxPathLength = 64;

/** The values that a user is shown. Names that the schema does not declare come last, so they push no other out. */
const maxValues = 50;

/** The length of the paths of further values, in UTF-16 units. */
const maxLeftOutLength = 1024;

const plainName = /^[\w-]+$/;
const plainArgument = /^[\w.-]+$/;

/** A value within the arguments, and where it is. */
interface Placed {
  readonly path: string;
  readonly value: JsonValue;
  /** The schema of the value, where it is known. */
  readonly schema: JsonValue | undefined;
}

/** Tells whether a value has at most so many characters of JSON, and looks at no more of it. */
function isShort(value: JsonValue, length: number): boolean {
  let room = length;
  const measure = (part: JsonValue): void => {
    if (typeof part === "string") room -= part.length + 2;
    else if (typeof part !== "object" || part === null) room -= String(part).length;
    else {
      for (const [key, inner] of Object.entries(part)) {
        room -= Array.isArray(part) ? 1 : key.length + 4;
        if (room >= 0) measure(inner ?? null);
      }
    }
  };
  measure(value);
  return room >= 0;
}

/** Lists the fields of an object: those that its schema declares first, in its order. */
function fieldsOf({ path, value, schema }: Placed & { readonly value: JsonObject }): readonly Placed[] {
  const given = isJsonObject(schema) ? schema["properties"] : undefined;
  const declared: JsonObject = isJsonObject(given) ? given : {};
  const known = Object.keys(declared).filter((name) => Object.hasOwn(value, name));
  return [...new Set([...known, ...Object.keys(value)])].map((name) => ({
    path: path === "" ? topName(name) : `${path}${plainName.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`}`,
    value: value[name] ?? null,
    schema: Object.hasOwn(declared, name) ? declared[name] : undefined,
  }));
}

function topName(name: string): string {
  return plainArgument.test(name) ? name : JSON.stringify(name);
}

function itemsOf({ path, schema }: Placed, items: readonly JsonValue[]): readonly Placed[] {
  const each = isJsonObject(schema) ? schema["items"] : undefined;
  return items.map((value, index) => ({ path: `${path}[${index}]`, value, schema: each }));
}

/** Lists a value itself where its JSON is short, else the values within it: none can hide in the middle of a long text. */
function* valuesOf(placed: Placed, length: number): Generator<Placed> {
  const { value } = placed;
  const isWhole = typeof value !== "object" || value === null || isShort(value, length);
  if (isWhole) yield placed;
  else for (const part of partsOf(placed)) yield* valuesOf(part, length);
}

function partsOf(placed: Placed): readonly Placed[] {
  const { value } = placed;
  if (Array.isArray(value)) return itemsOf(placed, value);
  return isJsonObject(value) ? fieldsOf({ ...placed, value }) : [];
}

/**
 * Writes the arguments that a user is to confirm, a line for each value. A value that is too long loses its middle; of an
 * object or a list that is too long each part has a line. Values above the bound are named, where that fits, and counted.
 */
export function argumentLines(args: JsonObject, schema: JsonSchema): string {
  const fields = fieldsOf({ path: "", value: args, schema });
  const share = Math.max(minValueLength, Math.floor(maxValuesLength / fields.length));
  const values = fields.flatMap((field) => [...valuesOf(field, share)]);
  const maxLength = Math.max(minValueLength, Math.floor(maxValuesLength / Math.min(values.length, maxValues)));
  const lines = values.slice(0, maxValues).map(({ path, value }) => {
    return `\n${shortText(path, maxPathLength)}: ${shortText(JSON.stringify(value), maxLength)}`;
  });
  const more = values.slice(maxValues);
  if (more.length === 0) return lines.join("");
  const paths = more.map(({ path }) => path).join(", ");
  return `${lines.join("")}\n… and ${more.length} more values: ${shortText(paths, maxLeftOutLength)}`;
}
