import { SurfaceError } from "../errors.ts";
import type { JsonObject, JsonSchema } from "../schema/json.ts";

/** An optional integer argument of a generated tool: its range, and what holds when it is left out. */
export interface NumberField {
  readonly name: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
  readonly description: string;
}

/**
 * The same field for a tool whose author bounded its calls: a wait that outlasted the deadline could only end as an
 * error, where the tool has an answer for having waited in vain.
 */
export function capField(field: NumberField, timeoutMs: number | undefined): NumberField {
  if (timeoutMs === undefined || timeoutMs >= field.maximum) return field;
  const maximum = Math.max(field.minimum, Math.floor(timeoutMs));
  return { ...field, maximum, default: Math.min(field.default, maximum) };
}

/** Its JSON Schema. */
export function toFieldSchema(field: NumberField): JsonSchema {
  return Object.freeze({
    type: "integer",
    description: field.description,
    minimum: field.minimum,
    maximum: field.maximum,
    default: field.default,
  });
}

/** Its value in these arguments. @throws SurfaceError `VALIDATION_ERROR` when it is not an integer in range. */
export function readField(field: NumberField, args: JsonObject): number {
  const value = Object.hasOwn(args, field.name) ? args[field.name] : undefined;
  if (value === undefined) return field.default;
  if (typeof value === "number" && Number.isInteger(value) && value >= field.minimum && value <= field.maximum) {
    return value;
  }
  const message = `expected an integer from ${field.minimum} to ${field.maximum}`;
  throw new SurfaceError("VALIDATION_ERROR", `Reading "${field.name}": it does not fit`, {
    issues: [{ path: field.name, message }],
  });
}
