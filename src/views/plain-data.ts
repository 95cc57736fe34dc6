import { SurfaceError } from "../errors.ts";
import { clipText } from "../schema/clip-text.ts";

const maxShownBytes = 64;

/** Where in some rules a reader is, for messages. */
export interface Place {
  /** Whose field it is: `rule "1" of packet "reviewers"`. */
  readonly owner: string;
  /** The field, dotted; the owner itself where it is empty. */
  readonly field: string;
}

/** A field of what is at a place. */
export function fieldOf({ owner, field }: Place, name: string): Place {
  return { owner, field: field === "" ? name : `${field}.${name}` };
}

/** What stands there, in words, as short as it takes. */
function describe(value: unknown): string {
  if (typeof value === "string") return `"${clipText(value, maxShownBytes)}"`;
  if (value === undefined) return "left out";
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function refuse({ owner, field }: Place, problem: string): SurfaceError {
  const what = field === "" ? owner : `"${field}" of ${owner}`;
  return new SurfaceError("INVALID_OPTION", `Reading view rules: ${what} ${problem}`);
}

/** The error of something that does not fit: it names what it is of, and what has to be there. */
export function toMisfit(value: unknown, place: Place, wanted: string): SurfaceError {
  return refuse(place, `is ${describe(value)} and must be ${wanted}`);
}

/** The fields of an object by name; none that is left out or is inherited. */
export type Fields = ReadonlyMap<string, unknown>;

/**
 * The own fields of a plain object. What is computed when it is looked at is refused: it could be another thing the second time.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function readFields(value: unknown, place: Place): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw toMisfit(value, place, "an object");
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw toMisfit(value, place, "an object of plain data");
  const fields = new Map<string, unknown>();
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (!("value" in property)) throw refuse(fieldOf(place, name), "is an accessor and must be plain data");
    const held: unknown = property.value;
    if (held !== undefined) fields.set(name, held);
  }
  return fields;
}

/** Refuses fields that nobody would read: one that is misspelled would narrow nothing. @throws SurfaceError `INVALID_OPTION`. */
export function assertKnown(fields: Fields, known: readonly string[], place: Place): void {
  for (const name of fields.keys()) {
    if (known.includes(name)) continue;
    const allowed = known.map((text) => `"${text}"`).join(", ");
    throw refuse(place, `has a field "${clipText(name, maxShownBytes)}" and may have ${allowed}`);
  }
}

/** How much of something is read. */
export interface Bounds {
  readonly most: number;
  /** What it is a list or a text of, in messages. */
  readonly of: string;
}

/** A list of at least one. @throws SurfaceError `INVALID_OPTION`. */
export function readList(value: unknown, place: Place, { most, of }: Bounds): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > most) {
    throw toMisfit(value, place, `a list of 1 to ${most} ${of}`);
  }
  // A copy, in which a hole is looked at too.
  return Array.from<unknown>(value);
}

/** A text of at least one character. @throws SurfaceError `INVALID_OPTION`. */
export function readText(value: unknown, place: Place, most: number): string {
  if (typeof value === "string" && value !== "" && value.length <= most) return value;
  throw toMisfit(value, place, `a text of 1 to ${most} characters`);
}
