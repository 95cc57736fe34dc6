import { isPlainObject } from "../schema/encode-any.ts";
import type { JsonValue } from "../schema/json.ts";

/** Stands for a part that has no text, such as a function or an instance of a class without fields. */
const notShown = "(a value that cannot be shown)";

/** Levels at most, as a value may have where it is written for the wire. */
const maxDepth = 512;

/**
 * Writes a validated value as JSON for a user who is to read it. Dates, bigints, maps and sets have their form on the wire, and bytes
 * are base64. A part that has no text is replaced by a sentence, so that every other part is shown. Never throws.
 */
export function toShownJson(value: unknown): JsonValue {
  return write(value, new Set());
}

function write(value: unknown, above: Set<object>): JsonValue {
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
    return writeParts(value, above);
  } catch {
    // An invalid date, or code of the author's that throws.
    return notShown;
  } finally {
    above.delete(value);
  }
}

function writeParts(value: object, above: Set<object>): JsonValue {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof RegExp) return String(value);
  // Before toJSON: that of a Buffer lists its bytes.
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value) || value instanceof Set || value instanceof Map) {
    return Array.from<unknown, JsonValue>(value, (item) => write(item, above));
  }
  return writeRecord(value, above);
}

function writeRecord(value: object, above: Set<object>): JsonValue {
  if ("toJSON" in value && typeof value.toJSON === "function") {
    // It is a function.
    return write((value as { toJSON(): unknown }).toJSON(), above);
  }
  const names = Object.keys(value);
  return names.length === 0 && !isPlainObject(value) ? notShown : writeFields(value, names, above);
}

/** Writes each field by itself: a getter that throws hides none of the others. Fields that are undefined are left out. */
function writeFields(value: object, names: readonly string[], above: Set<object>): JsonValue {
  const fields = names.flatMap((name): [string, JsonValue][] => {
    try {
      const field: unknown = Reflect.get(value, name);
      return field === undefined ? [] : [[name, write(field, above)]];
    } catch {
      return [[name, notShown]];
    }
  });
  return Object.fromEntries(fields);
}
