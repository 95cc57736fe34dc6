import type { MountedOperation, MountedSchema } from "../../catalog/mount.ts";
import { isJsonObject } from "../../schema/json.ts";
import { isSchema } from "../../schema/standard.ts";
import { toId } from "../agentic/names.ts";
import type { ToolAnnotations, ToolSpec } from "./tool-invoker.ts";

const anyObject: MountedSchema = Object.freeze({ type: "object", additionalProperties: true });

/** The id of a tool within its mount: no two names have the same one. */
export function toOperationName(name: string): string {
  return toId(name.split("."));
}

/** Arguments are an object, whether or not a schema says so of itself. */
function toInput(given: MountedSchema | undefined): MountedSchema {
  if (given === undefined || isSchema(given) || !isJsonObject(given)) return given ?? anyObject;
  const says = ["type", "$ref", "allOf", "anyOf", "oneOf"].some((keyword) => Object.hasOwn(given, keyword));
  return says ? given : { ...given, type: "object" };
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
export function toOperation(spec: ToolSpec): MountedOperation {
  const { name, description, inputSchema, parameters, outputSchema } = spec;
  const annotations = spec.annotations ?? {};
  const title = spec.title ?? annotations.title;
  return Object.freeze({
    name: toOperationName(name),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema: toInput(inputSchema ?? parameters),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...hintsOf(annotations),
  });
}

/** Whether a list has a tool: what is none is somebody else's to refuse. */
export function isSpec(value: unknown): value is ToolSpec {
  return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string";
}

/** Whether two are told of in the same words. Schemas that validate are the same where they are one. */
export function isSameSpec(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (!isSpec(left) || !isSpec(right)) return false;
  const schemas = ["inputSchema", "parameters", "outputSchema"] as const;
  const areOne = schemas.every((key) => !isSchema(left[key]) || left[key] === right[key]);
  return areOne && textOf(left) === textOf(right);
}

function textOf(spec: ToolSpec): string | undefined {
  try {
    return JSON.stringify(spec, (_key, value: unknown) => (isSchema(value) ? "schema" : value));
  } catch {
    return undefined;
  }
}
