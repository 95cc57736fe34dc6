import { defaultView, type Caller, type CallerView } from "../surface/caller.ts";
import type { LogLevel } from "../catalog/entry.ts";
import { clipText } from "../schema/clip-text.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { isLogLevel } from "./notifications.ts";
import { isRequestId, modernVersions, ownParam, rpcCodes, toRpcError, type Era, type RpcError } from "./protocol.ts";
import { withCallerView } from "../surface/caller-key.ts";

const keyPrefix = "io.modelcontextprotocol/";
const versionKey = `${keyPrefix}protocolVersion`;
/** The key in `_meta` under which a modern request says what its client can do. */
export const capabilitiesKey: string = `${keyPrefix}clientCapabilities`;
const clientInfoKey = `${keyPrefix}clientInfo`;
const logLevelKey = `${keyPrefix}logLevel`;

/** The `_meta` of a request's params, where there is one and it is an object. */
export function metaOf(params: JsonObject | undefined): JsonObject | undefined {
  const meta = ownParam(params, "_meta");
  return isJsonObject(meta) ? meta : undefined;
}

/** Whether a request claims to be modern: it carries either of the two keys that every modern request must carry. */
export function claimsModern(params: JsonObject | undefined): boolean {
  const meta = metaOf(params);
  return meta !== undefined && (Object.hasOwn(meta, versionKey) || Object.hasOwn(meta, capabilitiesKey));
}

function bad(what: string): RpcError {
  return toRpcError(rpcCodes.invalidParams, `Invalid params: ${what}`);
}

/** The error for a request without the envelope that the modern era demands. */
export const missingEnvelope: RpcError = bad(
  `"_meta" must carry "${versionKey}" and "${capabilitiesKey}" on every request`,
);

/**
 * Checks a modern request's envelope, on every request. Returns what is wrong, or `undefined`.
 */
export function checkEnvelope(params: JsonObject | undefined): RpcError | undefined {
  const meta = metaOf(params);
  if (meta === undefined) return missingEnvelope;
  const version = ownParam(meta, versionKey);
  if (version === undefined) return missingEnvelope;
  if (typeof version !== "string") return bad(`"${versionKey}" must be a string`);
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

/** Checks the params of a legacy handshake. Returns what is wrong, or `undefined`. */
export function checkInitialize(params: JsonObject | undefined): RpcError | undefined {
  const given = params ?? {};
  if (typeof ownParam(given, "protocolVersion") !== "string") return bad('"protocolVersion" must be a string');
  if (!isJsonObject(ownParam(given, "capabilities"))) return bad('"capabilities" must be an object');
  if (!isClientInfo(ownParam(given, "clientInfo")))
    return bad('"clientInfo" must be an object with a name and a version');
  return undefined;
}

/** The level from which on a modern request asks for what its call tells the client's log. */
export function logLevelOf(params: JsonObject | undefined): LogLevel | undefined {
  const meta = metaOf(params);
  const level = ownParam(meta, logLevelKey);
  return isLogLevel(level) ? level : undefined;
}

/** What the client of a modern request says that it can do. */
export function capabilitiesOf(params: JsonObject | undefined): JsonObject | undefined {
  const capabilities = ownParam(metaOf(params), capabilitiesKey);
  return isJsonObject(capabilities) ? capabilities : undefined;
}

const maxClientBytes = 256;

/** What a client says that it is, in `clientInfo` of a handshake, clipped; left out where it says nothing that can be read. */
export function readClient(info: unknown): CallerView["client"] {
  const own = isJsonObject(info) ? info : undefined;
  const name = ownParam(own, "name");
  const version = ownParam(own, "version");
  if (typeof name !== "string" || typeof version !== "string") return undefined;
  return { name: clipText(name, maxClientBytes), version: clipText(version, maxClientBytes) };
}

/** The same of a modern request, which says it in its envelope. */
export function envelopeClientOf(params: JsonObject | undefined): CallerView["client"] {
  return readClient(ownParam(metaOf(params), clientInfoKey));
}

/** A request's progress token, or what is wrong with it or with the `_meta` around it. */
export function progressTokenOf(params: JsonObject | undefined): string | number | undefined | RpcError {
  if (params === undefined || !Object.hasOwn(params, "_meta")) return undefined;
  const meta = params["_meta"];
  if (!isJsonObject(meta)) return bad('"_meta" must be an object');
  const token = ownParam(meta, "progressToken");
  // It is sent back with every report: no more of it than of an id.
  if (token === undefined || isRequestId(token)) return token;
  return bad('"progressToken" must be a string of at most 1 KiB or a safe integer');
}

type Client = NonNullable<CallerView["client"]>;

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
  const view = Object.freeze({ surface: defaultView, ...caller.view, client: Object.freeze(client) });
  const copy = withCallerView(caller, view);
  if (caller.isAnonymous) copies.set(caller, copy);
  return copy;
}

/** Who asks on one connection: the same caller all the time, with the program that they have said they are. */
export class ConnectionCaller {
  #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** As of the last request that said what its program is. */
  get current(): Caller {
    return this.#caller;
  }

  /** Who asks a request: a handshake says what its program is for all that follow, the modern era says it with each. */
  of(method: string, params: JsonObject | undefined, era: Era): Caller {
    if (era === "modern") this.#caller = withClient(this.#caller, envelopeClientOf(params));
    else if (method === "initialize") {
      this.#caller = withClient(this.#caller, readClient(ownParam(params, "clientInfo")));
    }
    return this.#caller;
  }
}
