import { checkEnvelope, claimsModern, metaOf } from "../../mcp/envelope.ts";
import type { HeaderParam } from "../../mcp/header-params.ts";
import { modernVersions, ownParam, rpcCodes, type Era } from "../../mcp/protocol.ts";
import type { NotificationFrame, RequestFrame } from "../../mcp/parse-frame.ts";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { refuseHeader, type HttpRefusal } from "../http-refusal.ts";
import type { HttpRequest } from "../message.ts";
import { checkMirrors, checkParamHeader, type Mirroring } from "./mirror-headers.ts";

/** The arguments of a tool that are told in headers besides. */
export type FindHeaderParams = (tool: string) => readonly HeaderParam[] | undefined;

const versionHeader = "mcp-protocol-version";
const versionKey = "io.modelcontextprotocol/protocolVersion";

const versionMissing = refuseHeader(`"${versionHeader}" is required, and says what "_meta" says`);
const versionDiffers = refuseHeader(`"${versionHeader}" must say what "_meta" says`);
const modernInitialize = refuseHeader(`"${versionHeader}" names a version that has no initialize`);

/** The version that a request's header names. */
export function headerVersionOf(request: HttpRequest): string | undefined {
  return request.header(versionHeader)?.trim();
}

/** Whether a request's header alone names the modern era. */
export function isModernHead(request: HttpRequest): boolean {
  const version = headerVersionOf(request);
  return version !== undefined && modernVersions.includes(version);
}

/** Which era a message is of: its body says so, or else its header. */
export function eraOf(request: HttpRequest, params: JsonObject | undefined): Era {
  return claimsModern(params) || isModernHead(request) ? "modern" : "legacy";
}

function checkVersion(
  request: HttpRequest,
  params: JsonObject | undefined,
  mirroring: Mirroring,
): HttpRefusal | undefined {
  const header = headerVersionOf(request);
  if (header === undefined) return mirroring === "required" ? versionMissing : undefined;
  const said = ownParam(metaOf(params), versionKey);
  return said === undefined || said === header ? undefined : versionDiffers;
}

function checkParams(
  request: HttpRequest,
  params: JsonObject | undefined,
  declared: readonly HeaderParam[],
): HttpRefusal | undefined {
  // Out of JSON.parse: a JSON value, or nothing.
  const args = ownParam(params, "arguments") as JsonValue | undefined;
  const wrong = declared.find((each) => !checkParamHeader(request, each, args));
  return wrong === undefined ? undefined : refuseHeader(`"${wrong.header}" must say what the argument says`);
}

function checkModern(request: HttpRequest, frame: RequestFrame): HttpRefusal | undefined {
  const { method, params } = frame;
  // The handshake of an era that the header says is not meant.
  if (method === "initialize" && !claimsModern(params)) return modernInitialize;
  const wrong = checkEnvelope(params);
  const refusal = wrong === undefined ? undefined : { status: 400, error: wrong };
  // Which versions are served is told to who says one and the same version twice.
  if (refusal !== undefined && wrong?.code !== rpcCodes.unsupportedVersion) return refusal;
  return (
    checkVersion(request, params, "where-present") ??
    refusal ??
    checkVersion(request, params, "required") ??
    checkMirrors(request, frame, "required")
  );
}

/** The headers that a call is to be compared with. Clients of the legacy era know nothing of them: theirs may be missing. */
function headersOf(request: HttpRequest, frame: RequestFrame, find: FindHeaderParams): readonly HeaderParam[] {
  const name = frame.method === "tools/call" ? ownParam(frame.params, "name") : undefined;
  const declared = (typeof name === "string" ? find(name) : undefined) ?? [];
  if (eraOf(request, frame.params) === "modern") return declared;
  return declared.filter(({ header }) => request.count(header) > 0);
}

/**
 * Whether a request's headers and its body agree, in either era, and its envelope is right where its era has one. A server
 * that looked at the two in different places would let in by one what was refused by the other.
 *
 * @param find - left out where who asks is not known yet: {@link judgeParams} is asked then, as soon as they are.
 */
export function judgeRequest(
  request: HttpRequest,
  frame: RequestFrame,
  find?: FindHeaderParams,
): HttpRefusal | undefined {
  const era = eraOf(request, frame.params);
  const wrong = era === "modern" ? checkModern(request, frame) : checkMirrors(request, frame, "where-present");
  if (wrong !== undefined) return { ...wrong, id: frame.id };
  return find && judgeParams(request, frame, find);
}

/** Whether the headers that tell arguments of a tool say what the arguments do. */
export function judgeParams(
  request: HttpRequest,
  frame: RequestFrame,
  find: FindHeaderParams,
): HttpRefusal | undefined {
  const refusal = checkParams(request, frame.params, headersOf(request, frame, find));
  return refusal === undefined ? undefined : { ...refusal, id: frame.id };
}

/** What a message that has no answer says of its version: it needs no envelope, and one that it has is right. */
function checkTold(params: JsonObject | undefined): HttpRefusal | undefined {
  const version = ownParam(metaOf(params), versionKey);
  if (version === undefined || (typeof version === "string" && modernVersions.includes(version))) return undefined;
  const error = checkEnvelope(params);
  return error === undefined ? undefined : { status: 400, error };
}

/** As {@link judgeRequest}, for a message that has no answer and may leave out what mirrors it. */
export function judgeNotification(request: HttpRequest, frame: NotificationFrame): HttpRefusal | undefined {
  const { params } = frame;
  const wrong = checkTold(params);
  const refusal = wrong?.error.code === rpcCodes.unsupportedVersion ? undefined : wrong;
  const differing = checkVersion(request, params, "where-present") ?? checkMirrors(request, frame, "where-present");
  return refusal ?? differing ?? wrong;
}
