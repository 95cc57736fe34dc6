import { createHash } from "node:crypto";
import { textOfBytes, type OptionFields } from "../options/option.ts";
import { canonicalText, isDeepFrozen, type JsonObject } from "../schema/json.ts";
import { scopeList } from "../tags/scopes.ts";

/** The view that a caller uses, and their client program. */
export interface CallerView {
  /** The view's name; never empty. */
  readonly surface: string;
  readonly project?: string;
  /** The `User-Agent` of the program. */
  readonly userAgent?: string;
  /** The name and version that the program sent in its handshake. Nothing proves them. */
  readonly client?: { readonly name: string; readonly version: string };
}

/** The name of the view of a caller who names no view. */
export const defaultView = "default";

/** The user or program that a call is made for. Never holds their access token. */
export interface Caller {
  /** The caller's name. Unique only with `issuer`, `clientId` and the identity claims: store data under {@link callerKey}. */
  readonly id: string;
  /** The authority that names the caller, such as the `iss` of their token. */
  readonly issuer?: string;
  /** Whether the caller did not sign in: over standard input and output, and over HTTP without `auth`. */
  readonly isAnonymous: boolean;
  /** Present if a tool calls on behalf of the caller, with the tool's scopes. An anonymous caller then needs scopes, too. */
  readonly isTool?: true;
  /** The scopes that the caller was granted. An anonymous caller has none, unless the server's options grant some. */
  readonly scopes: readonly string[];
  /** The client program, if the token names it. */
  readonly clientId?: string;
  /** Unix time (seconds) when the token expires. Streams and subscriptions opened with it are closed then. */
  readonly expiresAt?: number;
  /** The actions that the caller may do to things of the application, by `type:id`; `type:*` is every thing of a type. */
  readonly resources?: Readonly<Record<string, readonly string[]>>;
  /** The view that the caller uses. @default the view `default` */
  readonly view?: CallerView;
  /** Further claims that the verifier of the token passes to handlers. */
  readonly claims?: JsonObject;
}

/** The caller of a call without a signed-in user. Frozen. */
export const anonymous: Caller = Object.freeze({ id: "anonymous", isAnonymous: true, scopes: Object.freeze([]) });

/** Starts the key of an anonymous caller; a known caller's key starts with `[` or `#`. */
const anonymousPrefix = "anonymous ";
const anonymousKey = anonymousPrefix + anonymous.id;

/** The longest key that is used as it is, in UTF-16 units; a longer one is replaced by its SHA-256. */
const maxKeyLength = 256;

/** A key that is not computed from the caller's fields. Opaque, because it may name claims that a handler does not receive. */
class GivenKey {
  readonly #key: string;
  readonly #owner: Caller;

  constructor(key: string, owner: Caller) {
    this.#key = key;
    this.#owner = owner;
  }

  /** Returns the key; `undefined` for a copy with another id, issuer, client or claims. */
  of({ id, issuer, clientId, claims }: Caller): string | undefined {
    const owner = this.#owner;
    const isOwner =
      id === owner.id && issuer === owner.issuer && clientId === owner.clientId && claims === owner.claims;
    return isOwner ? this.#key : undefined;
  }
}

/** The property with the {@link GivenKey} of a caller. Enumerable, for copies of the caller; registered, for copies of this package. */
const kGivenKey: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.caller-key");

type KeyedCaller = Caller & { readonly [kGivenKey]?: GivenKey };

const keys = new WeakMap<Caller, string>();

function toKey({ issuer, id, clientId }: Caller, claims: JsonObject = {}): string {
  const claimsText = Object.keys(claims).length === 0 ? "" : canonicalText(claims);
  const key = JSON.stringify([issuer, id, clientId, claimsText]);
  return key.length > maxKeyLength ? `#${createHash("sha256").update(key).digest("base64url")}` : key;
}

/**
 * Returns the identity of a caller as one text: issuer, id, client and claims. Two callers that differ in one of them never share
 * a key. Store all data of a caller under this key, never under `id`. A copy with other scopes has the same key.
 */
export function callerKey(caller: Caller): string {
  if (caller.isAnonymous) return caller.id === anonymous.id ? anonymousKey : anonymousPrefix + caller.id;
  const known = keys.get(caller);
  if (known !== undefined) return known;
  const { [kGivenKey]: given }: KeyedCaller = caller;
  const key = given?.of(caller) ?? toKey(caller, caller.claims);
  // The key of an object that may change is computed each time, so that it never names a previous caller.
  if (Object.isFrozen(caller) && isDeepFrozen(caller.claims)) keys.set(caller, key);
  return key;
}

/** Returns a caller whose key depends on these claims only; without names, on all claims. */
export function withIdentityClaims(caller: Caller, names: readonly string[] | undefined): Caller {
  if (names === undefined) return caller;
  const claims = Object.entries(caller.claims ?? {}).filter(([name]) => names.includes(name));
  return withCallerKey(caller, toKey(caller, Object.fromEntries(claims)));
}

/** Returns whether a text has the form of a known caller's key. */
export function isCallerKey(text: unknown): text is string {
  return typeof text === "string" && text.length <= maxKeyLength && /^[[#]/.test(text);
}

/** Returns a known caller with this key: a frozen copy, or the same object if its own fields make the key. */
export function withCallerKey(caller: Caller, key: string): Caller {
  if (callerKey(caller) === key) return caller;
  // Copied, because the given object may change.
  return Object.freeze({ ...caller, [kGivenKey]: new GivenKey(key, { ...caller }) });
}

/** Returns a frozen copy of a caller with another view. Reuses a known key, because every request over HTTP makes such copies. */
export function withCallerView(caller: Caller, view: CallerView): Caller {
  const copy = Object.freeze({ ...caller, view });
  const known = keys.get(caller);
  if (known !== undefined) keys.set(copy, known);
  return copy;
}

/** Returns a copy of a caller with another view name or project. A field that is left out stays as it is. */
export function withChosenView(
  caller: Caller,
  { surface, project }: { readonly surface?: string | undefined; readonly project?: string | undefined },
): Caller {
  const { view } = caller;
  const chosen = { ...view, surface: surface ?? view?.surface ?? defaultView };
  return withCallerView(caller, project === undefined ? chosen : { ...chosen, project });
}

const sortedSet = (texts: readonly string[]): readonly string[] => [...new Set(texts)].toSorted();

/** Returns the identity and the grants of a caller as one text: a token with other grants may get the same caller another answer. */
export function grantKey(caller: Caller): string {
  const { isTool = false, scopes, resources = {} } = caller;
  const grants = Object.entries(resources).map(([resource, actions]) => [resource, sortedSet(actions)] as const);
  const sorted = grants.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([callerKey(caller), isTool, sortedSet(scopes), sorted]);
}

/** Returns everything that a handler sees of a caller as one text: {@link grantKey}, the view and all claims. */
export function visibleKey(caller: Caller): string {
  return JSON.stringify([grantKey(caller), caller.view, caller.claims]);
}

interface ViewOptions {
  readonly surface?: string;
  readonly project?: string;
  readonly scopes?: readonly string[];
}

/** The name of a view or a project. HTTP has the same limit. */
const viewName = textOfBytes(256);

/** Schemas of the options for the view and the scopes of callers without a token. */
export const viewOptionFields: OptionFields<ViewOptions> = { surface: viewName, project: viewName, scopes: scopeList };
