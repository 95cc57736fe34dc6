import { defaultView, type Caller, type CallerView } from "../surface/caller.ts";
import type { LogLevel } from "../catalog/entry.ts";
import { clipText } from "../schema/clip-text.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { isLogLevel } from "./notifications.ts";
import {
  isRequestId,
  modernVersions,
  ownParam,
  rpcCodes,
  toRpcError,
  type Era,
  type RequestId,
  type RpcError,
} from "./protocol.ts";
import { withCallerView } from "../surface/caller-key.ts";

const keyPrefix = "io.modelcontextprotocol/";
const versionKey = `${keyPrefix}protocolVersion`;
/** The key of the client's capabilities in `_meta` of a modern request. */
export const capabilitiesKey: string = `${keyPrefix}clientCapabilities`;
const clientInfoKey = `${keyPrefix}clientInfo`;
const logLevelKey = `${keyPrefix}logLevel`;

/** Returns the `_meta` of params if it is an object. */
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
const missingEnvelope: RpcError = bad(`"_meta" must carry "${versionKey}" and "${capabilitiesKey}" on every request`);

/** Checks the envelope of a modern request. Returns the error, or `undefined`. */
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

/** Returns the progress token of a request, or the error of a bad one. */
export function progressTokenOf(params: JsonObject | undefined): string | number | undefined | RpcError {
  if (params === undefined || !Object.hasOwn(params, "_meta")) return undefined;
  const meta = params["_meta"];
  if (!isJsonObject(meta)) return bad('"_meta" must be an object');
  const token = ownParam(meta, "progressToken");
  // It is sent back with every report: no more of it than of an id.
  if (token === undefined || isRequestId(token)) return token;
  return bad('"progressToken" must be a string of at most 1 KiB or a safe integer');
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

/** The caller of one connection, with the program that it names. */
export class ConnectionCaller {
  #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** The caller as of the last request that named its program. */
  get current(): Caller {
    return this.#caller;
  }

  /** Returns the caller of a request. A handshake names the program for all that follow, a modern request for itself. */
  of(method: string, params: JsonObject | undefined, era: Era): Caller {
    if (era === "modern") this.#caller = withClient(this.#caller, envelopeClientOf(params));
    else if (method === "initialize") {
      this.#caller = withClient(this.#caller, readClient(ownParam(params, "clientInfo")));
    }
    return this.#caller;
  }
}

/** What a connection has agreed on. `probed`: a modern client asked who is there, and may still fall back. */
type State = "opening" | "probed" | "modern" | "legacy";

const notInitialised = toRpcError(
  rpcCodes.invalidRequest,
  "Invalid request: this connection is not initialised; send initialize, or the modern envelope on every request",
);

const alreadyInitialised = toRpcError(
  rpcCodes.invalidRequest,
  "Invalid request: this connection is initialised already",
);

/** What is known of a request when its era is decided. */
interface OpeningRequest {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/**
 * Which era a connection speaks. Decided by its first requests and then fixed; a request that does not fit is refused
 * before anything runs.
 */
export class EraState {
  #state: State = "opening";
  #initializeId: RequestId | undefined;
  #mayInitialiseAgain = false;

  /** Whether the handshake succeeded. Only the legacy era has notifications other than cancellation. */
  get isLegacy(): boolean {
    return this.#state === "legacy";
  }

  /** Returns the era of a request, or the error that refuses it. A handshake counts once {@link initialised} is called. */
  admit(request: OpeningRequest): Era | RpcError {
    if (this.isLegacy) return this.#admitLegacy(request);
    if (claimsModern(request.params)) return this.#admitModern(request);
    if (request.method === "initialize") return this.#admitInitialize(request);
    // A ping is answered before the handshake, and decides nothing.
    if (this.#state === "opening") return request.method === "ping" ? "legacy" : notInitialised;
    return missingEnvelope;
  }

  /** Fixes the legacy era: the handshake of this id succeeded. */
  initialised(id: RequestId): void {
    this.#state = "legacy";
    this.#initializeId = id;
    this.#mayInitialiseAgain = false;
  }

  /** Whether this id is the handshake's. Cancelling it, which the protocol forbids, only makes room for another one. */
  cancelInitialize(id: unknown): boolean {
    if (this.#initializeId === undefined || id !== this.#initializeId) return false;
    this.#mayInitialiseAgain = true;
    return true;
  }

  #admitLegacy(request: OpeningRequest): Era | RpcError {
    if (request.method !== "initialize") return "legacy";
    return this.#mayInitialiseAgain ? this.#admitInitialize(request) : alreadyInitialised;
  }

  #admitInitialize({ params }: OpeningRequest): Era | RpcError {
    if (this.#state === "modern") {
      const requested = params?.["protocolVersion"];
      return unsupportedVersion(typeof requested === "string" ? requested : "unknown");
    }
    return checkInitialize(params) ?? "legacy";
  }

  #admitModern({ method, params }: OpeningRequest): Era | RpcError {
    const wrong = checkEnvelope(params);
    if (wrong !== undefined) return wrong;
    if (method !== "server/discover") this.#state = "modern";
    else if (this.#state === "opening") this.#state = "probed";
    return "modern";
  }
}
