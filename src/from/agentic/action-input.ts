import { SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import type { AgenticAction } from "./service-shape.ts";
import { toJSONSchema } from "./to-json-schema.ts";

/** What an action takes, and how what came in is handed to it. */
export interface ActionInput {
  /** Left out: nothing. What is no object is put under a key by whoever lists it, and taken out again. */
  readonly schema: JsonSchema | undefined;
  /** Input that fits -> the arguments, where there are several; `undefined`: it is the one argument. */
  readonly spread: ((input: unknown) => readonly unknown[]) | undefined;
}

const nothing: ActionInput = Object.freeze({ schema: undefined, spread: undefined });

function fail(problem: string): never {
  throw new SurfaceError("SCHEMA_UNSUPPORTED", `Reading what an action takes: ${problem}`);
}

function toOne(schema: unknown): JsonSchema {
  if (schema === true) return {};
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) fail("a schema must be an object");
  return toJSONSchema(schema);
}

function nameOf(_parameter: unknown, index: number): string {
  return `arg${index}`;
}

function toSeveral(parameters: readonly unknown[]): ActionInput {
  const names = parameters.map(nameOf);
  // A copy, since it is read as JSON from here on.
  const properties: Record<string, JsonValue> = Object.fromEntries(
    parameters.map((schema, index) => [nameOf(schema, index), { ...toOne(schema) }]),
  );
  return {
    schema: { type: "object", properties, required: names, additionalProperties: false },
    spread: (input) => (isJsonObject(input) ? names.map((name) => input[name]) : []),
  };
}

/**
 * Reads what an action takes, of either form.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED`.
 */
export function toActionInput({ parameters, schema }: Pick<AgenticAction, "parameters" | "schema">): ActionInput {
  const listed: unknown = parameters;
  if (listed === undefined) {
    // That nothing fits is how some say that it takes nothing.
    return schema === undefined || schema === false ? nothing : { schema: toOne(schema), spread: undefined };
  }
  if (!Array.isArray(listed)) fail('"parameters" must be a list');
  // A copy, in which a hole is looked at too.
  const each: readonly unknown[] = Array.from<unknown>(listed);
  if (each.length === 0) return nothing;
  return each.length === 1 ? { schema: toOne(each[0]), spread: undefined } : toSeveral(each);
}
