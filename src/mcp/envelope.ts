import { defaultView, type Caller, type CallerView, withCallerView } from "../surface/caller.ts";
import type { LogLevel } from "../catalog/entry.ts";
import { clipText } from "../schema/visible-text.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { isLogLevel } from "./notifications.ts";
import { metaOf, modernVersions, ownParam, rpcCodes, toRpcError, type RpcError } from "./protocol.ts";

const keyPrefix = "io.modelcontextprotocol/";
/** The key of the protocol version in `_meta` of a modern request. */
export const protocolVersionKey: string = `${keyPrefix}protocolVersion`;
/** The key of the client's capabilities in `_meta` of a modern request. */
export const capabilitiesKey: string = `${keyPrefix}clientCapabilities`;
const clientInfoKey = `${keyPrefix}clientInfo`;
const logLevelKey = `${keyPrefix}logLevel`;

/** Returns whether a request claims to be of 2026-07-28 or later: it has one of the two keys that each such request must have. */
export function claimsModern(params: JsonObject | undefined): boolean {
  const meta = metaOf(params);
  return meta !== undefined && (Object.hasOwn(meta, protocolVersionKey) || Object.hasOwn(meta, capabilitiesKey));
}

function bad(what: string): RpcError {
  return toRpcError(rpcCodes.invalidParams, `Invalid params: ${what}`);
}

/** The error for a request without the envelope that the modern era demands. */
export const missingEnvelope: RpcError = bad(
  `"_meta" must carry "${protocolVersionKey}" and "${capabilitiesKey}" on every request`,
);

/** Returns the protocol version in the envelope of a request, unchecked. */
export function versionOf(params: JsonObject | undefined): unknown {
  return ownParam(metaOf(params), protocolVersionKey);
}

/** Checks the envelope of a modern request. Returns the error, or `undefined`. */
export function checkEnvelope(params: JsonObject | undefined): RpcError | undefined {
  const meta = metaOf(params);
  if (meta === undefined) return missingEnvelope;
  const version = ownParam(meta, protocolVersionKey);
  if (version === undefined) return missingEnvelope;
  if (typeof version !== "string") return bad(`"${protocolVersionKey}" must be a string`);
  if (!modernVersions.includes(version)) return unsupportedVersion(version);
  if (ownParam(meta, capabilitiesKey) === undefined) return missingEnvelope;
  if (!isJsonObject(ownParam(meta, capabilitiesKey))) return bad(`"${capabilitiesKey}" must be an object`);
  return checkOptional(meta);
}

function checkOptional(meta: JsonObject): RpcError | undefined {
  const clientInfo = ownParam(meta, clientInfoKey);
  if (clientInfo !== undefined && !isClientInfo(clientInfo)) {
    return bad(`"${clientInfoKey}" must be an object with a name and a version`);
  }
  const logLevel = ownParam(meta, logLevelKey);
  return logLevel === undefined || isLogLevel(logLevel) ? undefined : bad(`"${logLevelKey}" is not a log level`);
}

function isClientInfo(value: unknown): boolean {
  return (
    isJsonObject(value) && typeof ownParam(value, "name") === "string" && typeof ownParam(value, "version") === "string"
  );
}

/** The error for a revision that is not served, naming those that are. */
export function unsupportedVersion(requested: string): RpcError {
  const shown = requested.slice(0, 64);
  const data = { supported: modernVersions, requested: shown };
  return toRpcError(rpcCodes.unsupportedVersion, `Unsupported protocol version: ${shown}`, data);
}

/** Checks the params of a legacy handshake. Returns the error, or `undefined`. */
export function checkInitialize(params: JsonObject | undefined): RpcError | undefined {
  const given = params ?? {};
  if (typeof ownParam(given, "protocolVersion") !== "string") return bad('"protocolVersion" must be a string');
  if (!isJsonObject(ownParam(given, "capabilities"))) return bad('"capabilities" must be an object');
  if (!isClientInfo(ownParam(given, "clientInfo")))
    return bad('"clientInfo" must be an object with a name and a version');
  return undefined;
}

/** Returns the level from which a modern request wants the log of its call. */
export function logLevelOf(params: JsonObject | undefined): LogLevel | undefined {
  const level = ownParam(metaOf(params), logLevelKey);
  return level !== undefined && isLogLevel(level) ? level : undefined;
}

/** Returns the capabilities of the client of a modern request. */
export function capabilitiesOf(params: JsonObject | undefined): JsonObject | undefined {
  const capabilities = ownParam(metaOf(params), capabilitiesKey);
  return isJsonObject(capabilities) ? capabilities : undefined;
}

type Client = NonNullable<CallerView["client"]>;

const maxClientBytes = 256;

/** The last client whose name and version needed no clipping. Without sessions every request names its client. */
let lastClient: Client | undefined;

/** Reads the `clientInfo` of a handshake, clipped; `undefined` if it does not fit. */
export function readClient(info: unknown): CallerView["client"] {
  const own = isJsonObject(info) ? info : undefined;
  const name = ownParam(own, "name");
  const version = ownParam(own, "version");
  if (typeof name !== "string" || typeof version !== "string") return undefined;
  if (name === lastClient?.name && version === lastClient.version) return lastClient;
  const client = Object.freeze({ name: clipText(name, maxClientBytes), version: clipText(version, maxClientBytes) });
  if (client.name === name && client.version === version) lastClient = client;
  return client;
}

/** Reads the client info in the envelope of a modern request. */
export function envelopeClientOf(params: JsonObject | undefined): CallerView["client"] {
  return readClient(ownParam(metaOf(params), clientInfoKey));
}

/** The last copy of each anonymous caller. Over HTTP without sessions every request names its client. */
const copies = new WeakMap<Caller, Caller>();

function hasClient({ view }: Caller, { name, version }: Client): boolean {
  return view?.client?.name === name && view.client.version === version;
}

/** Returns the caller with the name and version of their program. Returns the same object if these are missing or known. */
export function withClient(caller: Caller, client: Client | undefined): Caller {
  if (client === undefined || hasClient(caller, client)) return caller;
  const last = caller.isAnonymous ? copies.get(caller) : undefined;
  if (last !== undefined && hasClient(last, client)) return last;
  const view = Object.freeze({ surface: defaultView, ...caller.view, client });
  const copy = withCallerView(caller, view);
  if (caller.isAnonymous) copies.set(caller, copy);
  return copy;
}
