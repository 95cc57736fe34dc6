import { createHash } from "node:crypto";
import { canonicalText } from "../schema/canonical-text.ts";
import type { JsonObject } from "../schema/json.ts";
import { anonymous, type Caller } from "./caller.ts";

/** Starts the key of an anonymous caller; a known caller's key starts with `[` or `#`. */
const anonymousPrefix = "anonymous ";
const anonymousKey = anonymousPrefix + anonymous.id;

/** The longest key that is used as it is, in UTF-16 units; a longer one is replaced by its SHA-256. */
const maxKeyLength = 256;

const keys = new WeakMap<Caller, string>();

function toKey({ issuer, id, clientId }: Caller, claims: JsonObject = {}): string {
  const named = Object.keys(claims).length === 0 ? "" : canonicalText(claims);
  const key = JSON.stringify([issuer, id, clientId, named]);
  return key.length > maxKeyLength ? `#${createHash("sha256").update(key).digest("base64url")}` : key;
}

/**
 * Returns the identity of a caller as one text: issuer, id, client and claims. Two callers that differ in one of them never
 * share a key. Everything kept for a caller is kept under this key, never under `id`: sessions, streams, consent, parts of
 * large values, limits, places. Computed once for each caller object.
 */
export function callerKey(caller: Caller): string {
  if (caller.isAnonymous) return caller.id === anonymous.id ? anonymousKey : anonymousPrefix + caller.id;
  const known = keys.get(caller);
  if (known !== undefined) return known;
  const key = toKey(caller, caller.claims);
  keys.set(caller, key);
  return key;
}

/** Returns a caller whose key counts only these claims. Without names every claim counts. */
export function identifiedBy(caller: Caller, names: readonly string[] | undefined): Caller {
  if (names === undefined) return caller;
  const claims = Object.entries(caller.claims ?? {}).filter(([name]) => names.includes(name));
  keys.set(caller, toKey(caller, Object.fromEntries(claims)));
  return caller;
}

/** Whether a text has the form of a known caller's key. */
export function isCallerKey(text: unknown): text is string {
  return typeof text === "string" && text.length <= maxKeyLength && /^[[#]/.test(text);
}

/** Gives a known caller the key that another process computed for them. Returns the caller. */
export function withCallerKey(caller: Caller, key: string): Caller {
  keys.set(caller, key);
  return caller;
}

/** Gives a changed copy of a caller the key of the original: for another view, or with other grants. Returns the copy. */
export function sameCaller(copy: Caller, original: Caller): Caller {
  if (!original.isAnonymous) keys.set(copy, callerKey(original));
  return copy;
}

/**
 * Returns the identity of a caller and everything they were granted as one text. What an answer was made of is kept under it:
 * a token of the same caller with other grants may get another answer.
 */
export function grantKey(caller: Caller): string {
  const { isTool = false, scopes, resources = {} } = caller;
  const things = Object.entries(resources).map(
    ([thing, actions]) => [thing, [...new Set(actions)].toSorted()] as const,
  );
  const sorted = things.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([callerKey(caller), isTool, [...new Set(scopes)].toSorted(), sorted]);
}

const seen = new WeakMap<Caller, string>();

/** Returns everything a handler can tell a caller by as one text: {@link grantKey}, the view and all claims. */
export function visibleKey(caller: Caller): string {
  const known = seen.get(caller);
  if (known !== undefined) return known;
  const { view, claims } = caller;
  const key = JSON.stringify([grantKey(caller), view, claims]);
  seen.set(caller, key);
  return key;
}
