import { ownParam } from "../../mcp/protocol.ts";
import type { RequestFrame } from "../../mcp/parse-frame.ts";
import type { HeaderParam } from "../../mcp/header-params.ts";
import { isJsonObject, type JsonValue } from "../../schema/json.ts";
import { decodeHeaderValue } from "../head/header-value.ts";
import { refuseHeader, type HttpRefusal } from "../http-refusal.ts";
import type { HttpRequest } from "../message.ts";

/** Whether headers that mirror the body have to be there, or only to agree with it where they are. */
export type Mirroring = "required" | "where-present";

/** The methods whose requests must be mirrored in `Mcp-Name`, and the field of their params that it mirrors. */
const requiredKeys: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);

/** The methods whose requests are compared with `Mcp-Name` where a client sends it. */
const nameKeys: ReadonlyMap<string, string> = new Map([
  ...requiredKeys,
  ["resources/subscribe", "uri"],
  ["resources/unsubscribe", "uri"],
]);

/** A header and what the body says in its place. Fixed texts: what was sent is never quoted. */
function compare(header: string | undefined, said: string, name: string): HttpRefusal | undefined {
  if (header === undefined) return refuseHeader(`"${name}" is required, and says what the body says`);
  return header === said ? undefined : refuseHeader(`"${name}" must say what the body says`);
}

function checkMethod(request: HttpRequest, method: string, isRequired: boolean): HttpRefusal | undefined {
  const header = request.header("mcp-method")?.trim();
  return isRequired || header !== undefined ? compare(header, method, "mcp-method") : undefined;
}

function checkName(
  request: HttpRequest,
  { method, params }: Pick<RequestFrame, "method" | "params">,
  isRequired: boolean,
): HttpRefusal | undefined {
  const key = nameKeys.get(method);
  const said = key === undefined ? (ownParam(params, "name") ?? ownParam(params, "uri")) : ownParam(params, key);
  const header = request.header("mcp-name");
  const isNeeded = header !== undefined || (isRequired && requiredKeys.has(method));
  // A name that is no text is refused by whoever it is for. What names nothing is compared with nothing, as the SDK has it.
  if (typeof said !== "string" || !isNeeded) return undefined;
  return compare(header === undefined ? undefined : decodeHeaderValue(header), said, "mcp-name");
}

/** Whether `Mcp-Method` and `Mcp-Name` say what a message does. */
export function checkMirrors(
  request: HttpRequest,
  message: Pick<RequestFrame, "method" | "params">,
  mirroring: Mirroring,
): HttpRefusal | undefined {
  const isRequired = mirroring === "required";
  return checkMethod(request, message.method, isRequired) ?? checkName(request, message, isRequired);
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
  // What is not there, or cannot stand in a header, is in none: whoever goes by the header would take it for the argument.
  if (text === undefined) return request.count(header) === 0;
  if (request.count(header) > 1) return false;
  const said = request.header(header);
  const decoded = said === undefined ? undefined : decodeHeaderValue(said);
  if (decoded === undefined) return false;
  return decoded === text || (isNumeric && decimal.test(decoded) && Number(decoded) === value);
}
