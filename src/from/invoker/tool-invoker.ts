import type { MountContext, MountedOperation, MountedSchema } from "../../catalog/mounts/mount.ts";
import { isJsonObject, type JsonObject, type JsonSchema } from "../../schema/json.ts";
import { isSchema } from "../../schema/standard.ts";
import { toInputSchema, toOutputSchema } from "../../schema/compile-schema.ts";
import { toId } from "../names.ts";

/** One tool as an invoker tells of it, in the shapes that people have. */
export interface ToolSpec {
  /** Any text. What is no letter, digit, `_`, `-` or dot is written otherwise, so that no two tools share a name. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** What it takes: a Standard Schema or a JSON Schema, of whatever type its author has it. Default: `parameters`, else any object. */
  readonly inputSchema?: object | undefined;
  /** The same, as model providers call it. */
  readonly parameters?: object | undefined;
  /** What it answers; checked. Default: anything. */
  readonly outputSchema?: object | undefined;
  /** What is known of its behaviour, as MCP says it. A tool that does not say that it only reads may change something. */
  readonly annotations?: ToolAnnotations | undefined;
}

/** What a tool says of its behaviour. */
export interface ToolAnnotations {
  readonly title?: string | undefined;
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/** Whatever tells of tools and runs them by name. Whoever made it closes it. */
export interface ToolInvoker {
  /** What there is now, at once or later. One that answers at once and cannot tell of changes is asked before each call too. */
  list(): readonly ToolSpec[] | PromiseLike<readonly ToolSpec[]>;
  /**
   * Runs a tool, by the name that it was listed by. A text it answers is told as it is, an object as such, anything else as JSON;
   * a result as MCP has them (`{ content, isError?, structuredContent? }`) is passed on. What it throws is masked, but for `Refusal`.
   */
  invoke(name: string, args: JsonObject, context: MountContext): unknown;
  /** Calls `changed` after each change of the list. Returns what stops it. */
  subscribe?(changed: () => void): () => void;
}

/** A listed tool, read once. */
export interface ReadTool {
  readonly name: string;
  readonly operation: MountedOperation;
  /** The text that decides whether two lists have the same tool. */
  readonly words: string;
}

/** The schemas of a tool, not yet checked. */
type Given = Pick<MountedOperation, "inputSchema" | "outputSchema"> & { readonly parameters?: MountedSchema };

const anyObject: MountedSchema = Object.freeze({ type: "object", additionalProperties: true });

/** Returns the id of a tool within its mount. Different names have different ids. */
export function toOperationName(name: string): string {
  return toId(name.split("."));
}

/** Returns a copy, since the author may change the schema in place. */
function copyOf(json: JsonSchema): JsonSchema {
  // A copy of JSON is JSON.
  return JSON.parse(JSON.stringify(json)) as JsonSchema;
}

/** Adds `type: "object"` to a schema without a type: arguments are always an object. */
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
    // Without meaning for a tool that only reads.
    ...(isQuery || destructiveHint === undefined ? {} : { destructive: destructiveHint }),
    ...(idempotentHint === undefined ? {} : { idempotent: idempotentHint }),
    ...(openWorldHint === undefined ? {} : { openWorld: openWorldHint }),
  };
}

/** Returns the operation of a listed tool; other fields are ignored. */
function toOperation(name: string, spec: ToolSpec): MountedOperation {
  const { description } = spec;
  // The catalog checks them.
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

/** Standard Schemas are often created again for each list, so their JSON Schemas are compared. */
function wordsOf({ inputSchema, outputSchema, ...said }: MountedOperation): string {
  const where = `operation "${said.name}"`;
  const input = isSchema(inputSchema) ? [toInputSchema(inputSchema, where).json] : inputSchema;
  const output = isSchema(outputSchema) ? [toOutputSchema(outputSchema, where)?.json] : outputSchema;
  return JSON.stringify([said, input, output]);
}

/**
 * Reads a listed tool; `undefined` for one without a name.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED`, and the errors of its getters.
 */
export function readTool(listed: object): ReadTool | undefined {
  const name: unknown = Reflect.get(listed, "name");
  if (typeof name !== "string") return undefined;
  // The catalog checks the other fields.
  const operation = toOperation(name, listed as ToolSpec);
  return Object.freeze({ name, operation, words: wordsOf(operation) });
}

/** Returns the name of a listed tool; `undefined` if it cannot be read. */
export function nameIn(listed: unknown): unknown {
  try {
    return typeof listed === "object" && listed !== null ? Reflect.get(listed, "name") : undefined;
  } catch {
    return undefined;
  }
}
