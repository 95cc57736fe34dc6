import { ownParam } from "../../mcp/own-param.ts";
import type { RequestFrame } from "../../mcp/parse-frame.ts";
import type { HeaderParam } from "../../mcp/header-params.ts";
import { isJsonObject, type JsonValue } from "../../schema/json.ts";
import { decodeHeaderValue } from "../head/header-value.ts";
import { refuseHeader, type HttpRefusal } from "../http-refusal.ts";
import type { HttpRequest } from "../message.ts";

/** Whether headers that mirror the body have to be there, or only to agree with it where they are. */
export type Mirroring = "required" | "where-present";

/** The methods whose requests name something, and where in their params the name stands. */
const nameKeys: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);

/** A header and what the body says in its place. Fixed texts: what was sent is never quoted. */
function compare(header: string | undefined, said: string, name: string): HttpRefusal | undefined {
  if (header === undefined) return refuseHeader(`"${name}" is required, and says what the body says`);
  return header === said ? undefined : refuseHeader(`"${name}" must say what the body says`);
}

/** Whether `Mcp-Method` and `Mcp-Name` say what a message does. */
export function checkMirrors(
  request: HttpRequest,
  { method, params }: Pick<RequestFrame, "method" | "params">,
  mirroring: Mirroring,
): HttpRefusal | undefined {
  const isRequired = mirroring === "required";
  const methodHeader = request.header("mcp-method")?.trim();
  if (isRequired || methodHeader !== undefined) {
    const wrong = compare(methodHeader, method, "mcp-method");
    if (wrong !== undefined) return wrong;
  }
  const key = nameKeys.get(method);
  const said = key === undefined ? undefined : ownParam(params, key);
  const nameHeader = request.header("mcp-name");
  // A name that is no text is refused by whoever it is for.
  if (typeof said !== "string" || (!isRequired && nameHeader === undefined)) return undefined;
  return compare(nameHeader === undefined ? undefined : decodeHeaderValue(nameHeader), said, "mcp-name");
}

const decimal = /^-?\d+(?:\.\d+)?$/;

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" && (!Number.isInteger(value) || Number.isSafeInteger(value))
    ? String(value)
    : undefined;
}

function valueAt(args: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let value = args;
  for (const key of path) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** Whether an argument of a tool is in its header, where its schema asks for that. */
export function checkParamHeader(
  request: HttpRequest,
  { header, path, isNumeric }: HeaderParam,
  args: JsonValue | undefined,
): boolean {
  const value = valueAt(args, path);
  const text = textOf(value);
  // What is not there, or cannot stand in a header, is in none: what else is sent under that name is nobody's.
  if (text === undefined) return true;
  if (request.count(header) > 1) return false;
  const said = request.header(header);
  const decoded = said === undefined ? undefined : decodeHeaderValue(said);
  if (decoded === undefined) return false;
  return decoded === text || (isNumeric && decimal.test(decoded) && Number(decoded) === value);
}
