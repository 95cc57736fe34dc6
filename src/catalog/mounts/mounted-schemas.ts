import { fromJsonSchema } from "../../schema/validator/from-json-schema.ts";
import { isJsonObject, type JsonSchema } from "../../schema/json.ts";
import { isSchema, type Schema } from "../../schema/standard.ts";
import { compileOutput, toToolInput, toToolOutput } from "../tool-schemas.ts";
import type { FaceOwned, ToolEntry, ToolInput, ToolOutput } from "../entry.ts";
import type { MountedOperation, MountedSchema } from "./mount.ts";

/** The converted schemas of a mounted operation. */
export interface MountedSchemas {
  readonly owner: FaceOwned;
  readonly input: ToolInput;
  readonly output: ToolOutput;
  /** The schemas of the details of declared codes. */
  readonly details: Readonly<Record<string, Schema>>;
  /** The same as JSON Schemas, for agents; `undefined` if no code is declared. */
  readonly errors: Readonly<Record<string, JsonSchema>> | undefined;
}

function toSchema(schema: MountedSchema): Schema {
  return isSchema(schema) ? schema : fromJsonSchema(schema);
}

/** Returns the schema of the details alone, without the object that wraps a tool's output. */
function toDetailsJson(schema: Schema, where: string): JsonSchema {
  const { json, wrapped } = compileOutput(schema, where);
  const { properties } = json;
  const value = wrapped && isJsonObject(properties) ? properties["value"] : json;
  return isJsonObject(value) ? value : json;
}

/** Returns the characters of JSON that an operation's schemas hold: as they were given, and as agents see them. */
export function schemaLength(
  { inputSchema, outputSchema, errorSchemas = {} }: MountedOperation,
  { input, output, errors }: Pick<ToolEntry, "input" | "output" | "errors">,
): number {
  const given = [inputSchema, outputSchema, ...Object.values(errorSchemas)];
  const documents = given.filter((schema) => schema !== undefined && !isSchema(schema));
  return JSON.stringify([documents, input.json, output.json, errors]).length;
}

/**
 * Reads the schemas of an operation. Each is converted once, however often it is read.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming the operation.
 */
export function toMountedSchemas(operation: MountedOperation, origin: string): MountedSchemas {
  const { inputSchema, outputSchema, errorSchemas } = operation;
  const input = inputSchema === undefined ? undefined : toSchema(inputSchema);
  const output = outputSchema === undefined ? undefined : toSchema(outputSchema);
  const details = Object.entries(errorSchemas ?? {}).map(([code, schema]) => [code, toSchema(schema)] as const);
  const errors = details.map(([code, schema]) => [code, toDetailsJson(schema, `code "${code}" of ${origin}`)] as const);
  return {
    owner: Object.freeze({ input, output }),
    input: toToolInput(input, origin),
    output: Object.freeze({ rich: "may", ...toToolOutput(output, origin) }),
    details: Object.fromEntries(details),
    errors: errors.length === 0 ? undefined : Object.freeze(Object.fromEntries(errors)),
  };
}
