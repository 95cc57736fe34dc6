import { SurfaceError, Refusal } from "../../errors.ts";
import { isJsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { toBytesPlan, type BytesPlan } from "./bytes.ts";
import type { AgenticAction, AgenticService } from "./service-shape.ts";
import { toJSONSchema } from "./to-json-schema.ts";
import { content } from "../../catalog/content/content.ts";

/** Input of an action: its schema, and how validated input becomes arguments. */
export interface ActionInput {
  /** `undefined` for an action without input. The catalog wraps a value that is not an object under a key, and unwraps it. */
  readonly schema: JsonSchema | undefined;
  /** Positions of bytes in the input. The catalog decodes them before the action runs. */
  readonly bytes: BytesPlan | undefined;
  /** Turns valid input into several arguments; `undefined` if the input is the only argument. */
  readonly spread: ((input: unknown) => readonly unknown[]) | undefined;
}

const nothing: ActionInput = Object.freeze({ schema: undefined, bytes: undefined, spread: undefined });

function fail(problem: string): never {
  throw new SurfaceError("SCHEMA_UNSUPPORTED", `Cannot read the input of an action: ${problem}`);
}

function toOne(schema: unknown): JsonSchema {
  if (schema === true) return {};
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) fail("a schema must be an object");
  return toJSONSchema(schema);
}

function toSingle(schema: unknown): ActionInput {
  return { schema: toOne(schema), bytes: toBytesPlan(schema), spread: undefined };
}

function nameOf(_parameter: unknown, index: number): string {
  return `arg${index}`;
}

function toSeveral(parameters: readonly unknown[]): ActionInput {
  const names = parameters.map(nameOf);
  // Spread: a schema has no index signature, and JSON has one.
  const properties: Record<string, JsonValue> = Object.fromEntries(
    parameters.map((schema, index) => [nameOf(schema, index), { ...toOne(schema) }]),
  );
  return {
    schema: { type: "object", properties, required: names, additionalProperties: false },
    bytes: toBytesPlan({ properties: Object.fromEntries(names.map((name, index) => [name, parameters[index]])) }),
    spread: (input) => (isJsonObject(input) ? names.map((name) => input[name]) : []),
  };
}

/**
 * Reads the input of an action from `schema` or `parameters`.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED`.
 */
export function toActionInput({ parameters, schema }: Pick<AgenticAction, "parameters" | "schema">): ActionInput {
  const listed: unknown = parameters;
  if (listed === undefined) {
    // Some services write `false` for an action without input.
    return schema === undefined || schema === false ? nothing : toSingle(schema);
  }
  if (!Array.isArray(listed)) fail('"parameters" must be a list');
  // `Array.from` turns holes into `undefined`, which is refused; `map` would skip them.
  const each: readonly unknown[] = Array.from<unknown>(listed);
  if (each.length === 0) return nothing;
  return each.length === 1 ? toSingle(each[0]) : toSeveral(each);
}

/** An action and its service. */
export interface ServiceAction {
  readonly service: AgenticService;
  readonly key: string;
  readonly action: object;
  readonly input: ActionInput;
  /** The meaning of a text that the action returns. */
  readonly texts: "refusal" | "answer";
}

/** Calls an action. `execute` of a service passes on one argument, so an action with several is called directly. */
function run({ service, key, action, input }: ServiceAction, given: unknown): unknown {
  if (input.spread === undefined) return service.execute(key, given);
  const execute: unknown = Reflect.get(action, "execute");
  if (typeof execute === "function") return Reflect.apply(execute, action, [...input.spread(given)]);
  throw new Refusal("OPERATION_NOT_FOUND", "there is no operation of this name");
}

/**
 * Runs an action. `undefined` becomes an empty text; a text becomes a refusal, unless the option `texts` is `"answer"`; anything else
 * is data. Rejects with the error of the service.
 */
export async function runAction(owned: ServiceAction, given: unknown): Promise<unknown> {
  const answer = await run(owned, given);
  if (answer === undefined) return content([""]);
  return typeof answer === "string" ? content([answer], { isError: owned.texts === "refusal" }) : answer;
}
