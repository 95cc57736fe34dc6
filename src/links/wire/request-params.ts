import { SurfaceError } from "../../errors.ts";
import {
  filledText,
  flag,
  listOf,
  option,
  problemOf,
  required,
  text,
  type OptionFields,
} from "../../options/option.ts";
import { pickOptions } from "../../options/read-options.ts";
import { deepFreeze, isDeepFrozen, isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import {
  anonymous,
  callerKey,
  isCallerKey,
  withCallerKey,
  type Caller,
  type CallerView,
} from "../../surface/caller.ts";
import type { RequestVerb, SubscribeVerb } from "../../surface/channel.ts";
import { readTraceContext, type TraceContext } from "../../surface/trace-context.ts";
import type { SurfaceAddress } from "../reach-surface.ts";

/** UTF-16 units of the JSON of the largest caller: more than an HTTP server accepts from a token verifier. */
export const maxCallerLength: number = 64 * 1024;

type GivenCaller = Caller & { readonly key: string };

const texts = listOf(text, "a list of texts");
const anyObject = option("an object", isJsonObject);

const programFields: OptionFields<NonNullable<CallerView["client"]>> = {
  name: required(text),
  version: required(text),
};

const viewFields: OptionFields<CallerView> = {
  surface: required(filledText),
  project: text,
  userAgent: text,
  client: anyObject,
};

const callerFields: OptionFields<GivenCaller> = {
  id: required(filledText),
  isAnonymous: required(flag),
  scopes: required(texts),
  issuer: text,
  isTool: option("true", (value) => value === true),
  clientId: text,
  expiresAt: option("a number", (value) => typeof value === "number"),
  resources: option(
    "lists of texts",
    (value) => isJsonObject(value) && Object.values(value).every((each) => problemOf(texts, each, "") === undefined),
  ),
  view: anyObject,
  claims: anyObject,
  key: option("a key of a caller", isCallerKey),
};

/** Keeps the known fields of a view. @throws SurfaceError for one that does not fit. */
function readView(given: CallerView): CallerView {
  const { client, ...view } = pickOptions(given, viewFields, "");
  return client === undefined ? view : { ...view, client: pickOptions(client, programFields, "") };
}

function read(given: JsonObject): Caller | undefined {
  try {
    // Each field is checked.
    const { key, view, ...fields } = pickOptions(given as unknown as GivenCaller, callerFields, "");
    const kept = view === undefined ? fields : { ...fields, view: readView(view) };
    if (JSON.stringify({ ...kept, key }).length > maxCallerLength) return undefined;
    // Its values are JSON.
    deepFreeze(kept as unknown as JsonObject);
    return key === undefined || kept.isAnonymous ? kept : withCallerKey(kept, key);
  } catch (cause) {
    if (cause instanceof SurfaceError) return undefined;
    throw cause;
  }
}

/** Callers by their JSON: few callers make many calls, and reading a caller is slow. */
const recent = new Map<string, Caller>();
const maxRecent = 64;
const maxRecentLength = 2048;

/** Reads the caller of a call, a frozen object; `undefined` for anything else. Drops unknown fields. */
export function readCaller(given: JsonValue): Caller | undefined {
  const json = JSON.stringify(given);
  const known = recent.get(json);
  if (known !== undefined) return known;
  // Read from that text: 1e999 is infinite in the frame, and null here. JSON.parse returns a JSON value.
  const parsed = JSON.parse(json) as JsonValue;
  const caller = isJsonObject(parsed) ? read(parsed) : undefined;
  if (caller === undefined || json.length > maxRecentLength) return caller;
  if (recent.size >= maxRecent) recent.clear();
  recent.set(json, caller);
  return caller;
}

const written = new WeakMap<Caller, JsonObject>();

function write(caller: Caller, what: string): JsonObject {
  const { id, isAnonymous, scopes, issuer, isTool, clientId, expiresAt, resources, view, claims } = caller;
  const fields = { id, isAnonymous, scopes, issuer, isTool, clientId, expiresAt, resources, view, claims };
  let json: unknown;
  try {
    json = JSON.parse(JSON.stringify({ ...fields, ...(isAnonymous ? {} : { key: callerKey(caller) }) }));
  } catch {
    // Claims without a JSON form: reported below.
  }
  // The server reads it in the same way, so it is refused here before anything is sent.
  if (isJsonObject(json) && read(json) !== undefined) return json;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Cannot call ${what}: "caller" must be a caller of at most ${maxCallerLength} characters of JSON`,
  );
}

/**
 * Writes a caller for the wire; `undefined` for the anonymous caller, which a server assumes. Keeps the JSON of deeply frozen
 * callers.
 *
 * @throws SurfaceError `INVALID_OPTION` for any other object, or a caller that is too large.
 */
export function toCallerJson(caller: Caller, what: string): JsonObject | undefined {
  if (caller === anonymous) return undefined;
  const known = written.get(caller);
  if (known !== undefined) return known;
  const json = write(caller, what);
  if (isDeepFrozen(caller)) written.set(caller, json);
  return json;
}

/** The hello of a client. */
export interface Hello {
  readonly protocol: JsonValue | undefined;
  readonly surface: SurfaceAddress;
  /** The digests of the members that the client may use. */
  readonly members: JsonObject;
}

/** Most surfaces of a composed surface. */
const maxSegments = 256;

const segmentPattern = /^[A-Za-z][A-Za-z0-9_]{0,63}(?:\.[A-Za-z][A-Za-z0-9_]{0,63}){0,15}$/;
const maxNameLength = 64;

/** Reads the segments of a composed surface; `undefined` for invalid ones. */
function readSegments(given: JsonValue): ReadonlyMap<string, string> | undefined {
  if (!isJsonObject(given)) return undefined;
  const segments = new Map<string, string>();
  for (const [segment, name] of Object.entries(given)) {
    if (!segmentPattern.test(segment) || typeof name !== "string" || name.length > maxNameLength) return undefined;
    segments.set(segment, name);
  }
  return segments.size === 0 || segments.size > maxSegments ? undefined : segments;
}

/** Reads the parameters of a hello; `undefined` for invalid ones. */
export function readHello(params: unknown): Hello | undefined {
  if (!isJsonObject(params)) return undefined;
  const { protocol, surface, members } = params;
  const given = params["segments"];
  const segments = given === undefined ? undefined : readSegments(given);
  if (!isJsonObject(members) || (given !== undefined && segments === undefined)) return undefined;
  // No surface has the empty name.
  return { protocol, surface: { name: typeof surface === "string" ? surface : "", segments }, members };
}

/** An operation that a peer requests. */
export interface OperationParams<TVerb> {
  readonly verb: TVerb;
  readonly member: string;
  readonly argument: JsonValue | undefined;
}

/** An operation that is answered once. */
export interface RequestParams extends OperationParams<RequestVerb> {
  readonly options: {
    readonly timeoutMs?: number;
    readonly since?: string;
    readonly caller?: Caller;
    readonly trace?: TraceContext;
  };
  /** The progress token, if the client listens to progress. */
  readonly progress: number | undefined;
}

/** A subscription. */
export interface SubscribeParams extends OperationParams<SubscribeVerb> {
  readonly stream: number;
  readonly credit: number;
}

// Keyed by the verbs, so that the compiler reports a missing one.
const askVerbs: Readonly<Record<RequestVerb, true>> = {
  get: true,
  keys: true,
  item: true,
  list: true,
  latest: true,
  wait: true,
  recent: true,
  call: true,
};
const followVerbs: Readonly<Record<SubscribeVerb, true>> = {
  watch: true,
  watchKeys: true,
  watchItem: true,
  watchList: true,
  open: true,
  watchLatest: true,
  watchRecent: true,
};

function isVerb<TVerb extends string>(verbs: Readonly<Record<TVerb, true>>, verb: unknown): verb is TVerb {
  return typeof verb === "string" && Object.hasOwn(verbs, verb);
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function readOptions(given: JsonValue | undefined): RequestParams["options"] | undefined {
  if (given === undefined) return {};
  if (!isJsonObject(given)) return undefined;
  const { timeoutMs, since } = given;
  if (timeoutMs !== undefined && typeof timeoutMs !== "number") return undefined;
  if (since !== undefined && typeof since !== "string") return undefined;
  return { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(since === undefined ? {} : { since }) };
}

/** Reads the caller and the trace context of a call; `undefined` for an invalid caller. Drops a malformed trace context. */
function readOrigin(
  verb: RequestVerb,
  { caller: given, trace: sent }: JsonObject,
): Pick<RequestParams["options"], "caller" | "trace"> | undefined {
  // Only procedures know them.
  if (verb !== "call") return {};
  const caller = given === undefined ? undefined : readCaller(given);
  if (given !== undefined && caller === undefined) return undefined;
  const trace = sent === undefined ? undefined : readTraceContext(sent);
  if (trace === undefined) return caller === undefined ? {} : { caller };
  return caller === undefined ? { trace } : { caller, trace };
}

function readTarget(params: JsonObject): { member: string; argument: JsonValue | undefined } | undefined {
  const { member, argument } = params;
  return typeof member === "string" ? { member, argument } : undefined;
}

/** Reads the parameters of `surface/ask`; `undefined` for invalid ones. */
export function readAsk(params: unknown): RequestParams | undefined {
  if (!isJsonObject(params)) return undefined;
  const { verb, progress } = params;
  const target = readTarget(params);
  const options = readOptions(params["options"]);
  if (target === undefined || options === undefined || !isVerb(askVerbs, verb)) return undefined;
  if (progress !== undefined && !isNumber(progress)) return undefined;
  const by = readOrigin(verb, params);
  return by && { verb, ...target, options: { ...options, ...by }, progress };
}

/** Reads the parameters of `surface/follow`; `undefined` for invalid ones. */
export function readFollow(params: unknown): SubscribeParams | undefined {
  if (!isJsonObject(params)) return undefined;
  const { verb, stream, credit } = params;
  const target = readTarget(params);
  if (target === undefined || !isVerb(followVerbs, verb) || !isNumber(stream)) return undefined;
  return isNumber(credit) && credit >= 0 ? { verb, ...target, stream, credit } : undefined;
}
