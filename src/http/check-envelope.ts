import { authorise } from "../call/authorise.ts";
import type { AdmittedRequest } from "../mcp/dispatcher.ts";
import { checkEnvelope, claimsModern, versionOf } from "../mcp/envelope.ts";
import { modernVersions, ownParam, rpcCodes, type Era } from "../mcp/protocol.ts";
import type { NotificationFrame, RequestFrame } from "../mcp/parse-frame.ts";
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import { readTraceContext, type TraceContext } from "../surface/trace-context.ts";
import { decodeHeaderValue } from "./check-head.ts";
import type { HttpRequest } from "./message.ts";
import { refuseHeader, type HttpRefusal } from "./respond.ts";

type Message = Pick<RequestFrame, "method" | "params">;

const versionHeader = "mcp-protocol-version";

const versionMissing = refuseHeader(`"${versionHeader}" is required, with the protocol version of "_meta"`);
const versionDiffers = refuseHeader(`"${versionHeader}" differs from the protocol version of "_meta"`);
const modernInitialize = refuseHeader(`"${versionHeader}" names a version that has no "initialize"`);

/** Methods whose requests must have `Mcp-Name`, and the field of their params that it repeats. */
const requiredKeys: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);

/** As {@link requiredKeys}, with methods that may have the header. */
const nameKeys: ReadonlyMap<string, string> = new Map([
  ...requiredKeys,
  ["resources/subscribe", "uri"],
  ["resources/unsubscribe", "uri"],
]);

/** Returns the protocol version that the header names. */
export function headerVersionOf(request: HttpRequest): string | undefined {
  return request.header(versionHeader)?.trim();
}

/** Returns whether the header names a version of the modern era. */
export function isModernHead(request: HttpRequest): boolean {
  const version = headerVersionOf(request);
  return version !== undefined && modernVersions.includes(version);
}

/** Returns the era of a message, by its body or else its header. */
export function eraOf(request: HttpRequest, params: JsonObject | undefined): Era {
  return claimsModern(params) || isModernHead(request) ? "modern" : "legacy";
}

/** Compares a header with a value of the body. The texts quote no value of the request. */
function compare(header: string | undefined, inBody: string, name: string): HttpRefusal | undefined {
  if (header === undefined) return refuseHeader(`"${name}" is required, with the same value as in the body`);
  return header === inBody ? undefined : refuseHeader(`"${name}" differs from the value in the body`);
}

function checkName(request: HttpRequest, { method, params }: Message, isRequired: boolean): HttpRefusal | undefined {
  const key = nameKeys.get(method);
  const inBody = key === undefined ? (ownParam(params, "name") ?? ownParam(params, "uri")) : ownParam(params, key);
  const header = request.header("mcp-name");
  const isNeeded = header !== undefined || (isRequired && requiredKeys.has(method));
  // The handler refuses a name that is no string. A message without a name is compared with nothing, as in the SDK.
  if (typeof inBody !== "string" || !isNeeded) return undefined;
  return compare(header === undefined ? undefined : decodeHeaderValue(header), inBody, "mcp-name");
}

/** Checks that `Mcp-Method` and `Mcp-Name` agree with the body. If they are required, the version is, too. */
function checkMirrors(request: HttpRequest, message: Message, isRequired: boolean): HttpRefusal | undefined {
  if (isRequired && headerVersionOf(request) === undefined) return versionMissing;
  const header = request.header("mcp-method")?.trim();
  const wrong = isRequired || header !== undefined ? compare(header, message.method, "mcp-method") : undefined;
  return wrong ?? checkName(request, message, isRequired);
}

function checkVersion(request: HttpRequest, params: JsonObject | undefined): HttpRefusal | undefined {
  const header = headerVersionOf(request);
  const inBody = versionOf(params);
  return header === undefined || inBody === undefined || inBody === header ? undefined : versionDiffers;
}

function checkModern(request: HttpRequest, frame: RequestFrame): HttpRefusal | undefined {
  const { method, params } = frame;
  // The header names a version without this handshake.
  if (method === "initialize" && !claimsModern(params)) return modernInitialize;
  const wrong = checkEnvelope(params);
  const refusal = wrong === undefined ? undefined : { status: 400, error: wrong };
  // A client learns which versions are served if it names the same version in header and body.
  if (refusal !== undefined && wrong?.code !== rpcCodes.unsupportedVersion) return refusal;
  return checkVersion(request, params) ?? refusal ?? checkMirrors(request, frame, true);
}

/**
 * Checks that headers and body of a request agree, and the envelope of a modern one. Otherwise a proxy that reads headers and a
 * server that reads bodies could disagree on whether to accept a request.
 */
export function checkRequestHeaders(request: HttpRequest, frame: RequestFrame, era: Era): HttpRefusal | undefined {
  const wrong = era === "modern" ? checkModern(request, frame) : checkMirrors(request, frame, false);
  return wrong && { ...wrong, id: frame.id };
}

/** Checks that headers and body of a notification agree, which needs neither envelope nor headers. */
export function checkNotificationHeaders(request: HttpRequest, frame: NotificationFrame): HttpRefusal | undefined {
  const { params } = frame;
  const version = versionOf(params);
  const isServed = version === undefined || (typeof version === "string" && modernVersions.includes(version));
  const error = isServed ? undefined : checkEnvelope(params);
  const wrong = error && { status: 400, error };
  const refusal = error?.code === rpcCodes.unsupportedVersion ? undefined : wrong;
  return refusal ?? checkVersion(request, params) ?? checkMirrors(request, frame, false) ?? wrong;
}

/** Argument of a tool that a header repeats, so that a router need not read bodies. */
export interface HeaderParam {
  /** In lower case. */
  readonly header: string;
  /** Keys from the arguments to the value. */
  readonly path: readonly string[];
  /** Whether `42` equals `42.0`. */
  readonly isNumeric: boolean;
}

const headerKey = "x-mcp-header";
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const numeric = new Set<JsonValue | undefined>(["integer", "number"]);
const permitted = new Set<JsonValue | undefined>(["string", "boolean", ...numeric]);

function* walk(schema: JsonValue | undefined, path: readonly string[]): Generator<HeaderParam> {
  if (!isJsonObject(schema)) return;
  const name = schema[headerKey];
  const type = schema["type"];
  if (path.length > 0 && typeof name === "string" && headerName.test(name) && permitted.has(type)) {
    yield { header: `mcp-param-${name.toLowerCase()}`, path, isNumeric: numeric.has(type) };
  }
  const properties = schema["properties"];
  if (!isJsonObject(properties)) return;
  for (const [key, child] of Object.entries(properties)) yield* walk(child, [...path, key]);
}

/** Schemas are frozen, and live as long as their tools. */
const knownParams = new WeakMap<JsonSchema, readonly HeaderParam[]>();

/** Returns the arguments that headers repeat: scalars under `properties` of the input schema with the flag `x-mcp-header`. */
export function headerParamsOf(input: JsonSchema): readonly HeaderParam[] {
  const found = knownParams.get(input) ?? Object.freeze([...walk(input, [])]);
  knownParams.set(input, found);
  return found;
}

/** The header arguments of a request that calls no tool. */
export const noParams: readonly HeaderParam[] = Object.freeze([]);

/** Returns the header arguments of the called tool; none if the tool does not exist for the caller. */
export function headerParamsFor({ frame, caller, view }: AdmittedRequest): readonly HeaderParam[] {
  const name = frame.method === "tools/call" ? ownParam(frame.params, "name") : undefined;
  const entry = typeof name === "string" ? view.catalog.tool(name) : undefined;
  const lack = entry && authorise(caller, entry);
  // A tool that no consent can grant looks as if it did not exist, in headers as in calls.
  const isHidden = lack !== undefined && lack.scopes === undefined;
  return entry === undefined || isHidden ? noParams : headerParamsOf(entry.input.json);
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

/** Returns whether a header repeats the argument of a tool. */
function isRepeated(request: HttpRequest, { header, path, isNumeric }: HeaderParam, args?: JsonValue): boolean {
  const value = valueAt(args, path);
  const text = textOf(value);
  // A missing argument, or one that no header can hold, must have no header: a proxy would take the header for the argument.
  if (text === undefined) return request.count(header) === 0;
  if (request.count(header) > 1) return false;
  const sent = request.header(header);
  const decoded = sent === undefined ? undefined : decodeHeaderValue(sent);
  if (decoded === undefined) return false;
  return decoded === text || (isNumeric && decimal.test(decoded) && Number(decoded) === value);
}

/** Checks that the headers that repeat arguments of a tool agree with the body. Legacy clients may leave the headers out. */
export function checkParamHeaders(
  request: HttpRequest,
  { id, params }: RequestFrame,
  declared: readonly HeaderParam[],
): HttpRefusal | undefined {
  if (declared.length === 0) return undefined;
  const isRequired = eraOf(request, params) === "modern";
  // JSON.parse() made it: a JSON value, or nothing.
  const args = ownParam(params, "arguments") as JsonValue | undefined;
  const wrong = declared.find(
    (param) => (isRequired || request.count(param.header) > 0) && !isRepeated(request, param, args),
  );
  return wrong && { ...refuseHeader(`"${wrong.header}" must repeat the value of its argument`), id };
}

/** Reads the trace context of the headers of a request, for messages whose `_meta` has none. Drops malformed and long headers. */
export function readTraceHeaders(request: HttpRequest): TraceContext | undefined {
  const traceparent = request.header("traceparent");
  // The only look-up for most clients.
  if (traceparent === undefined) return undefined;
  return readTraceContext({
    traceparent,
    tracestate: request.header("tracestate"),
    baggage: request.header("baggage"),
  });
}
