import { SurfaceError } from "../errors.ts";
import { describeValue } from "../options/describe-value.ts";
import { isRecord } from "../options/is-object.ts";
import { clipText } from "../schema/clip-text.ts";

const maxShownBytes = 64;

/** The longest name of a rule, a packet or a view, in characters. */
export const maxNameLength = 256;

/** A part of JSON Schema that describes the data of rules. It is read by {@link readPlain}, and published for editors. */
export interface PlainSchema {
  readonly description?: string;
  /** In messages: the name of a list's items, `patterns`; the name of an object with an `id`, `rule`. */
  readonly title?: string;
  readonly type?: "string" | "boolean" | "array" | "object";
  readonly enum?: readonly string[];
  /** Either one value or a list, or objects whose `kind` differs. */
  readonly anyOf?: readonly PlainSchema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: PlainSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, PlainSchema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly additionalProperties?: false;
}

/** A place in rules, for messages. */
export interface Place {
  /** The owner of the field: `rule "1" of packet "reviewers"`. */
  readonly owner: string;
  /** The field, dotted. Empty for the owner itself. */
  readonly field: string;
}

function fieldOf({ owner, field }: Place, name: string): Place {
  return { owner, field: field === "" ? name : `${field}.${name}` };
}

function refuse({ owner, field }: Place, problem: string): SurfaceError {
  const what = field === "" ? owner : `"${field}" of ${owner}`;
  return new SurfaceError("INVALID_OPTION", `Reading view rules: ${what} ${problem}`);
}

/** Creates the error of a value that does not fit. */
function toMisfit(value: unknown, place: Place, wanted: string): SurfaceError {
  return refuse(place, `is ${value === undefined ? "left out" : describeValue(value)} and must be ${wanted}`);
}

function quoted(names: readonly string[], separator: string): string {
  return names.map((name) => `"${name}"`).join(separator);
}

/**
 * Reads the own fields of a plain object, without those that are undefined. An accessor is refused: it could answer something
 * else later.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function readFields(value: unknown, place: Place): ReadonlyMap<string, unknown> {
  if (!isRecord(value)) throw toMisfit(value, place, "an object");
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

/** Returns the place of an object that messages name by its `id`, or by its number. */
export function placeOf(value: unknown, unnamed: string, toOwner: (id: string) => string): Place {
  const id: unknown = isRecord(value) ? Object.getOwnPropertyDescriptor(value, "id")?.value : undefined;
  return { owner: isText(id, maxNameLength) ? toOwner(id) : unnamed, field: "" };
}

function readList(
  { items = {}, minItems = 0, maxItems = 0, title }: PlainSchema,
  value: unknown,
  place: Place,
): unknown {
  if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) {
    throw toMisfit(value, place, `a list of ${minItems === 0 ? "at most" : "1 to"} ${maxItems} ${title}`);
  }
  // A copy, in which a hole is checked too.
  const read = Array.from<unknown>(value).map((item, index) => {
    if (items.title === undefined) return readPlain(items, item, fieldOf(place, `${index}`));
    const toOwner = (id: string): string => `${items.title} "${id}" of ${place.owner}`;
    return readPlain(items, item, placeOf(item, toOwner(`${index + 1}`), toOwner));
  });
  return Object.freeze(read);
}

function readObject(
  { properties = {}, required = [], minProperties = 0 }: PlainSchema,
  value: unknown,
  place: Place,
): unknown {
  const fields = readFields(value, place);
  const known = Object.keys(properties);
  // A misspelt field would narrow nothing.
  const unknown = [...fields.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw refuse(place, `has a field "${clipText(unknown, maxShownBytes)}" and may have ${quoted(known, ", ")}`);
  }
  if (fields.size < minProperties) throw toMisfit(value, place, `an object with ${quoted(known, " or ")}`);
  const read = new Map<string, unknown>();
  for (const [name, schema] of Object.entries(properties)) {
    if (!fields.has(name) && !required.includes(name)) continue;
    const part = readPlain(schema, fields.get(name), fieldOf(place, name));
    if (part !== undefined) read.set(name, part);
  }
  return Object.freeze(Object.fromEntries<unknown>(read));
}

function kindsOf({ properties }: PlainSchema): readonly string[] {
  return properties?.["kind"]?.enum ?? [];
}

function pickArm(arms: readonly PlainSchema[], value: unknown, place: Place): PlainSchema {
  const kinds = arms.flatMap(kindsOf);
  if (kinds.length === 0) return arms.find(({ type }) => (type === "array") === Array.isArray(value)) ?? {};
  const kind = readFields(value, place).get("kind");
  const arm = arms.find((one) => kindsOf(one).some((name) => name === kind));
  if (arm !== undefined) return arm;
  throw toMisfit(kind, fieldOf(place, "kind"), quoted(kinds, " or "));
}

function isText(value: unknown, maxLength = 0): value is string {
  return typeof value === "string" && value !== "" && value.length <= maxLength;
}

/** Returns what a scalar must be, if it is something else. */
function scalarMisfit({ type, enum: words, maxLength }: PlainSchema, value: unknown): string | undefined {
  if (type === "string") return isText(value, maxLength) ? undefined : `a text of 1 to ${maxLength} characters`;
  if (type === "boolean") return typeof value === "boolean" ? undefined : "true or false";
  return words === undefined || words.some((word) => word === value) ? undefined : quoted(words, " or ");
}

/**
 * Reads data by its schema: a frozen copy, without fields whose schema is empty.
 *
 * @throws SurfaceError `INVALID_OPTION` naming the owner and the field.
 */
export function readPlain(schema: PlainSchema, value: unknown, place: Place): unknown {
  const { type, anyOf } = schema;
  if (anyOf !== undefined) return readPlain(pickArm(anyOf, value, place), value, place);
  if (type === "array") return readList(schema, value, place);
  if (type === "object") return readObject(schema, value, place);
  const wanted = scalarMisfit(schema, value);
  if (wanted !== undefined) throw toMisfit(value, place, wanted);
  return type === undefined && schema.enum === undefined ? undefined : value;
}
