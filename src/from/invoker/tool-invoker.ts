import type { MountContext, MountedOperation, MountedSchema } from "../../catalog/mounts/mount.ts";
import { isJsonObject, type JsonObject, type JsonSchema } from "../../schema/json.ts";
import { isSchema } from "../../schema/standard.ts";
import { toInputSchema, toOutputSchema } from "../../schema/compile-schema.ts";
import { toId } from "../names.ts";

/** A tool as an invoker lists it. */
export interface ToolSpec {
  /** Any text. Characters other than letters, digits, `_`, `-` and dots are escaped, so different names stay different. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Standard Schema or JSON Schema of the input. @default `parameters`, or else any object */
  readonly inputSchema?: object | undefined;
  /** The input schema under the name that model providers use. */
  readonly parameters?: object | undefined;
  /** Schema that the output is validated with. @default any output */
  readonly outputSchema?: object | undefined;
  /** Annotations of MCP. Without `readOnlyHint`, the tool counts as one that may change something. */
  readonly annotations?: ToolAnnotations | undefined;
}

/** Behaviour hints, as in MCP. */
export interface ToolAnnotations {
  readonly title?: string | undefined;
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/** A registry that lists tools and runs them by name. The app does not close it. */
export interface ToolInvoker {
  /** Returns the present tools. A synchronous invoker without `subscribe` is also asked before each call. */
  list(): readonly ToolSpec[] | PromiseLike<readonly ToolSpec[]>;
  /**
   * Runs a tool by its listed name. Texts and objects are returned as they are, other values as JSON. An MCP tool result
   * (`{ content, isError?, structuredContent? }`) is passed on. Errors other than `Refusal` are masked.
   */
  invoke(name: string, args: JsonObject, context: MountContext): unknown;
  /** Calls `changed` after each change of the list. Returns a function that unsubscribes. */
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
