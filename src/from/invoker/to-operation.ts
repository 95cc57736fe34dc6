import type { MountedOperation, MountedSchema } from "../../catalog/mount.ts";
import { isJsonObject, type JsonSchema } from "../../schema/json.ts";
import { isSchema } from "../../schema/standard.ts";
import { toInputSchema, toOutputSchema } from "../../schema/compile-schema.ts";
import { toId } from "../names.ts";
import type { ToolAnnotations, ToolSpec } from "./tool-invoker.ts";

/** What an invoker tells of a tool, read once. */
export interface ReadTool {
  /** What it is invoked by. */
  readonly name: string;
  readonly operation: MountedOperation;
  /** The words that it is told of in: those of two are the same where agents are told the same. */
  readonly words: string;
}

/** The schemas of a tool, as they are taken to be. */
type Given = Pick<MountedOperation, "inputSchema" | "outputSchema"> & { readonly parameters?: MountedSchema };

const anyObject: MountedSchema = Object.freeze({ type: "object", additionalProperties: true });

/** The id of a tool within its mount: no two names have the same one. */
export function toOperationName(name: string): string {
  return toId(name.split("."));
}

/** What nobody else holds: a schema that is changed where it is would be known by what it was. */
function copyOf(json: JsonSchema): JsonSchema {
  // What was JSON is that again.
  return JSON.parse(JSON.stringify(json)) as JsonSchema;
}

/** Arguments are an object, whether or not a schema says so of itself. */
function toInput(given: MountedSchema | undefined): MountedSchema {
  if (given === undefined || isSchema(given) || !isJsonObject(given)) return given ?? anyObject;
  const says = ["type", "$ref", "allOf", "anyOf", "oneOf"].some((keyword) => Object.hasOwn(given, keyword));
  return copyOf(says ? given : { ...given, type: "object" });
}

function toOutput(given: MountedSchema): MountedSchema {
  return !isSchema(given) && isJsonObject(given) ? copyOf(given) : given;
}

function hintsOf(annotations: ToolAnnotations): Partial<MountedOperation> {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const isQuery = readOnlyHint === true;
  return {
    type: isQuery ? "query" : "mutation",
    // Of what only reads it says nothing.
    ...(isQuery || destructiveHint === undefined ? {} : { destructive: destructiveHint }),
    ...(idempotentHint === undefined ? {} : { idempotent: idempotentHint }),
    ...(openWorldHint === undefined ? {} : { openWorld: openWorldHint }),
  };
}

/** Turns what an invoker tells of a tool into an operation. What it tells beyond that is nobody's. */
function toOperation(name: string, spec: ToolSpec): MountedOperation {
  const { description } = spec;
  // They are looked at where the operation becomes an entry.
  const { inputSchema, parameters, outputSchema } = spec as Given;
  const annotations = spec.annotations ?? {};
  const title = spec.title ?? annotations.title;
  return Object.freeze({
    name: toOperationName(name),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema: toInput(inputSchema ?? parameters),
    ...(outputSchema === undefined ? {} : { outputSchema: toOutput(outputSchema) }),
    ...hintsOf(annotations),
  });
}

/** Schemas that validate are often made anew for each list: they are known by what agents are told. */
function wordsOf({ inputSchema, outputSchema, ...said }: MountedOperation): string {
  const where = `operation "${said.name}"`;
  const input = isSchema(inputSchema) ? [toInputSchema(inputSchema, where).json] : inputSchema;
  const output = isSchema(outputSchema) ? [toOutputSchema(outputSchema, where)?.json] : outputSchema;
  return JSON.stringify([said, input, output]);
}

/**
 * Reads what a list has; `undefined` where it has no name, which is somebody else's to refuse.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED`, and what reading it throws.
 */
export function readTool(listed: object): ReadTool | undefined {
  const name: unknown = Reflect.get(listed, "name");
  if (typeof name !== "string") return undefined;
  // Everything else of it is looked at where it becomes an entry.
  const operation = toOperation(name, listed as ToolSpec);
  return Object.freeze({ name, operation, words: wordsOf(operation) });
}

/** The name of what a list has, where it can be read. Never throws. */
export function nameIn(listed: unknown): unknown {
  try {
    return typeof listed === "object" && listed !== null ? Reflect.get(listed, "name") : undefined;
  } catch {
    return undefined;
  }
}
