import { type JsonObject, type JsonValue, isJsonObject } from "../../schema/json.ts";
import type { Caller } from "../../surface/caller.ts";
import type { RequestVerb, SubscribeVerb } from "../../surface/channel.ts";
import { readCaller } from "./wire-caller.ts";
import { readCredit } from "./served-stream.ts";
import type { AskedSurface } from "../reach-surface.ts";

/** A hello that somebody has said. */
export interface Hello {
  readonly protocol: JsonValue | undefined;
  readonly surface: AskedSurface;
  /** The members that it may use. */
  readonly members: JsonObject;
}

/** Most surfaces that one may be composed of. */
const maxSegments = 256;

const segmentPattern = /^[A-Za-z][A-Za-z0-9_]{0,63}(?:\.[A-Za-z][A-Za-z0-9_]{0,63}){0,15}$/;
const maxNameLength = 64;

/** Reads what a surface was composed of; `undefined` when it is nothing of that kind. */
function readSegments(given: JsonValue): ReadonlyMap<string, string> | undefined {
  if (!isJsonObject(given)) return undefined;
  const segments = new Map<string, string>();
  for (const [segment, name] of Object.entries(given)) {
    if (!segmentPattern.test(segment) || typeof name !== "string" || name.length > maxNameLength) return undefined;
    segments.set(segment, name);
  }
  return segments.size === 0 || segments.size > maxSegments ? undefined : segments;
}

/** Reads the parameters of a hello; `undefined` when they are none. */
export function readHello(params: unknown): Hello | undefined {
  if (!isJsonObject(params)) return undefined;
  const { protocol, surface, members } = params;
  const given = params["segments"];
  const segments = given === undefined ? undefined : readSegments(given);
  if (!isJsonObject(members) || (given !== undefined && segments === undefined)) return undefined;
  // No surface has the empty name.
  return { protocol, surface: { name: typeof surface === "string" ? surface : "", segments }, members };
}

/** A use that a peer has asked for. */
export interface AskedUse<TVerb> {
  readonly verb: TVerb;
  readonly member: string;
  /** Left out where there is none. */
  readonly argument: JsonValue | undefined;
}

/** A use that is answered once. */
export interface AskedOnce extends AskedUse<RequestVerb> {
  readonly options: { readonly timeoutMs?: number; readonly since?: string; readonly caller?: Caller };
  /** Where its progress is sent, where somebody listens. */
  readonly progress: number | undefined;
}

/** A use that is answered again and again. */
export interface AskedStream extends AskedUse<SubscribeVerb> {
  readonly stream: number;
  readonly credit: number;
}

// Keyed by the verbs, so that the compiler misses one that is not here.
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

function readOptions(given: JsonValue | undefined): AskedOnce["options"] | undefined {
  if (given === undefined) return {};
  if (!isJsonObject(given)) return undefined;
  const { timeoutMs, since } = given;
  if (timeoutMs !== undefined && typeof timeoutMs !== "number") return undefined;
  if (since !== undefined && typeof since !== "string") return undefined;
  return { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(since === undefined ? {} : { since }) };
}

/** Reads the caller of a call; `undefined` for one that does not fit. */
function readCallerOf(
  verb: RequestVerb,
  given: JsonValue | undefined,
): Pick<AskedOnce["options"], "caller"> | undefined {
  // Members other than procedures give every client the same values.
  if (verb !== "call" || given === undefined) return {};
  const caller = readCaller(given);
  return caller && { caller };
}

function readTarget(params: JsonObject): { member: string; argument: JsonValue | undefined } | undefined {
  const { member, argument } = params;
  return typeof member === "string" ? { member, argument } : undefined;
}

/** Reads a `surface/ask`; `undefined` when it is none. */
export function readAsk(params: unknown): AskedOnce | undefined {
  if (!isJsonObject(params)) return undefined;
  const { verb, progress } = params;
  const target = readTarget(params);
  const options = readOptions(params["options"]);
  if (target === undefined || options === undefined || !isVerb(askVerbs, verb)) return undefined;
  if (progress !== undefined && !isNumber(progress)) return undefined;
  const by = readCallerOf(verb, params["caller"]);
  return by && { verb, ...target, options: { ...options, ...by }, progress };
}

/** Reads a `surface/follow`; `undefined` when it is none. */
export function readFollow(params: unknown): AskedStream | undefined {
  if (!isJsonObject(params)) return undefined;
  const { verb, stream } = params;
  const target = readTarget(params);
  const credit = readCredit(params["credit"]);
  if (target === undefined || credit === undefined || !isVerb(followVerbs, verb) || !isNumber(stream)) return undefined;
  return { verb, ...target, stream, credit };
}
