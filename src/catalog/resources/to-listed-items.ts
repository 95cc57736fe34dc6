import { isJsonObject, type JsonValue } from "../../schema/json.ts";
import type { ListedItem, TemplateEntry, TemplateVariable } from "../entry.ts";
import { maxUriLength, readVariable } from "../resolve-uri.ts";

/** How many items of one collection are listed: more than a person picks from, and one page. */
export const maxListedItems = 1000;

type Scalar = string | number | boolean;

/** The values of a template's variables that an item's key holds, up to the last one that is there. */
function valuesOf(key: JsonValue, variables: readonly TemplateVariable[]): readonly (JsonValue | undefined)[] {
  const values = variables.map(({ name }) => {
    if (!isJsonObject(key)) return key;
    return Object.hasOwn(key, name) ? key[name] : undefined;
  });
  return values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
}

/** A value as one segment of a path; `undefined` where reading that would not give the same value. */
export function toSegment(value: JsonValue | undefined, variable: TemplateVariable | undefined): string | undefined {
  if (value === undefined || value === null || typeof value === "object" || variable === undefined) return undefined;
  const segment = encode(value);
  return readVariable(segment, variable) === value ? segment : undefined;
}

function encode(value: Scalar): string | undefined {
  try {
    return encodeURIComponent(value);
  } catch {
    // Half a character.
    return undefined;
  }
}

function toItem(key: JsonValue, { id, base, variables }: TemplateEntry): ListedItem | undefined {
  const values = valuesOf(key, variables);
  const segments = values.flatMap((value, index) => toSegment(value, variables[index]) ?? []);
  const uri = [base, ...segments].join("/");
  if (segments.length === 0 || segments.length < values.length || uri.length > maxUriLength) return undefined;
  return { uri, name: [id, ...segments.map((segment) => decodeURIComponent(segment))].join("/") };
}

/** The JSON text of a list -> the keys in it. */
function keysOf(text: string): readonly JsonValue[] {
  // What JSON.parse returns is a JSON value.
  const list = JSON.parse(text) as JsonValue;
  if (Array.isArray(list)) return list;
  const items = isJsonObject(list) ? list["items"] : undefined;
  return Array.isArray(items) ? items.flatMap((item) => (isJsonObject(item) ? (item["key"] ?? []) : [])) : [];
}

/**
 * The JSON text of a collection's list -> the items that are listed, sorted by URI: the first of them, where there are too
 * many. A key that no URI can spell is left out: its item cannot be read by its URI either.
 */
export function toListedItems(text: string, template: TemplateEntry): readonly ListedItem[] {
  const items = keysOf(text).flatMap((key) => toItem(key, template) ?? []);
  items.sort((left, right) => (left.uri < right.uri ? -1 : 1));
  return Object.freeze(items.slice(0, maxListedItems));
}
