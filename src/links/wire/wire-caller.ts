import { SurfaceError } from "../../errors.ts";
import { deepFreeze, isDeepFrozen, isJsonObject } from "../../schema/json.ts";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import {
  callerKey,
  isCallerKey,
  withCallerKey,
  anonymous,
  type Caller,
  type CallerView,
} from "../../surface/caller.ts";

/** The longest caller, in UTF-16 units of its JSON: more than an HTTP server takes from a verifier of tokens. */
export const maxCallerLength: number = 64 * 1024;

/** Returns the value as it is kept; `undefined` for one that does not fit. */
type ReadValue = (value: JsonValue) => JsonValue | undefined;

/** The fields of an object: whether each must be there, and how its value is read. */
type Fields<TRecord> = Readonly<Record<keyof TRecord, readonly ["required" | "optional", ReadValue]>>;

/** The same, one field after the other. */
type FieldList = readonly (readonly [string, readonly ["required" | "optional", ReadValue]])[];

function toList<TRecord>(fields: Fields<TRecord>): FieldList {
  return Object.entries<Fields<TRecord>[keyof TRecord]>(fields);
}

function when(fits: (value: JsonValue) => boolean): ReadValue {
  return (value) => (fits(value) ? value : undefined);
}

function isText(value: JsonValue): boolean {
  return typeof value === "string";
}

function isTextList(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.every(isText);
}

const text = when(isText);
const name = when((value) => isText(value) && value !== "");
const texts = when(isTextList);

/** Keeps the known fields of an object; `undefined` if one is missing or does not fit. */
function keep(given: JsonValue, fields: FieldList): JsonObject | undefined {
  if (!isJsonObject(given)) return undefined;
  const kept: Record<string, JsonValue> = {};
  for (const [field, [presence, readValue]] of fields) {
    const value = Object.hasOwn(given, field) ? given[field] : undefined;
    if (value === undefined && presence === "optional") continue;
    const known = value === undefined ? undefined : readValue(value);
    if (known === undefined) return undefined;
    kept[field] = known;
  }
  return kept;
}

const programFields = toList<NonNullable<CallerView["client"]>>({
  name: ["required", text],
  version: ["required", text],
});

const viewFields = toList<CallerView>({
  surface: ["required", name],
  project: ["optional", text],
  userAgent: ["optional", text],
  client: ["optional", (value) => keep(value, programFields)],
});

const callerFields = toList<Caller & { readonly key: string }>({
  id: ["required", name],
  isAnonymous: ["required", when((value) => typeof value === "boolean")],
  scopes: ["required", texts],
  issuer: ["optional", text],
  isTool: ["optional", when((value) => value === true)],
  clientId: ["optional", text],
  expiresAt: ["optional", when((value) => typeof value === "number")],
  resources: ["optional", when((value) => isJsonObject(value) && Object.values(value).every(isTextList))],
  view: ["optional", (value) => keep(value, viewFields)],
  claims: ["optional", when(isJsonObject)],
  key: ["optional", when(isCallerKey)],
});

function read(given: JsonValue): Caller | undefined {
  const kept = keep(given, callerFields);
  if (kept === undefined || JSON.stringify(kept).length > maxCallerLength) return undefined;
  const { key, ...fields } = kept;
  // Each field was checked above.
  const caller = deepFreeze(fields) as unknown as Caller;
  return typeof key === "string" && !caller.isAnonymous ? withCallerKey(caller, key) : caller;
}

/** Callers by their text: few callers make many calls, and reading one takes longer than carrying it. */
const recent = new Map<string, Caller>();
const maxRecent = 64;
const maxRecentLength = 2048;

/** Reads the caller of a call, a frozen object; `undefined` for anything else. Drops unknown fields. */
export function readCaller(given: JsonValue): Caller | undefined {
  const said = JSON.stringify(given);
  const known = recent.get(said);
  if (known !== undefined) return known;
  // Read from that text, because 1e999 is infinite in the frame and null here. What JSON.parse returns is a JSON value.
  const caller = read(JSON.parse(said) as JsonValue);
  if (caller === undefined || said.length > maxRecentLength) return caller;
  if (recent.size >= maxRecent) recent.clear();
  recent.set(said, caller);
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
    // Claims that JSON does not have: reported below.
  }
  // The server reads it in the same way, so it is refused here before anything is sent.
  if (isJsonObject(json) && read(json) !== undefined) return json;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Cannot call ${what}: "caller" must be a caller of at most ${maxCallerLength} characters of JSON`,
  );
}

/**
 * Writes a caller for the wire; `undefined` for the anonymous one, which a server assumes. Keeps the JSON of callers that
 * are frozen all the way down.
 *
 * @throws SurfaceError `INVALID_OPTION` for an object that is no caller, or too large.
 */
export function toCallerJson(caller: Caller, what: string): JsonObject | undefined {
  if (caller === anonymous) return undefined;
  const known = written.get(caller);
  if (known !== undefined) return known;
  const json = write(caller, what);
  if (isDeepFrozen(caller)) written.set(caller, json);
  return json;
}
