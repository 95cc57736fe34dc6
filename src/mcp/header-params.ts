import { authorise } from "../call/authorise.ts";
import { isJsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import type { Caller } from "../surface/caller.ts";
import type { ResolvedView } from "./resolved-view.ts";

/** An argument of a tool that is told in a header besides, so that whatever routes requests need not read bodies. */
export interface HeaderParam {
  /** The header, in lower case. */
  readonly header: string;
  /** Where the argument is: a key for each object around it. */
  readonly path: readonly string[];
  /** Whether `42` and `42.0` are the same to it. */
  readonly isNumeric: boolean;
}

const headerKey = "x-mcp-header";
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const numeric = new Set<JsonValue | undefined>(["integer", "number"]);
const permitted = new Set<JsonValue | undefined>(["string", "boolean", ...numeric]);

function* walk(schema: JsonValue | undefined, path: readonly string[]): Generator<HeaderParam> {
  if (!isJsonObject(schema)) return;
  const name = schema[headerKey];
  const type = schema["type"];
  if (path.length > 0 && typeof name === "string" && token.test(name) && permitted.has(type)) {
    yield { header: `mcp-param-${name.toLowerCase()}`, path, isNumeric: numeric.has(type) };
  }
  const properties = schema["properties"];
  if (!isJsonObject(properties)) return;
  for (const [key, child] of Object.entries(properties)) yield* walk(child, [...path, key]);
}

/** What was read once: schemas are frozen, and live as long as their tools. */
const known = new WeakMap<JsonSchema, readonly HeaderParam[]>();

/**
 * The arguments that an input schema wants told in headers: scalars under `properties`, flagged with `x-mcp-header`. A flag
 * anywhere else means nothing: no one value stands there.
 */
export function headerParamsOf(input: JsonSchema): readonly HeaderParam[] {
  const found = known.get(input) ?? Object.freeze([...walk(input, [])]);
  known.set(input, found);
  return found;
}

/** Returns the header arguments of a tool; `undefined` if the tool does not exist for the caller. */
export function headerParamsFor(view: ResolvedView, tool: string, caller: Caller): readonly HeaderParam[] | undefined {
  const entry = view.catalog.tool(tool);
  const lack = entry && authorise(caller, entry);
  // A tool that no consent can grant looks as if it did not exist, in headers as in calls.
  return entry === undefined || (lack !== undefined && lack.scopes === undefined)
    ? undefined
    : headerParamsOf(entry.input.json);
}
