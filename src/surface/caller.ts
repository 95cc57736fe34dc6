import { type JsonObject, canonicalText, isDeepFrozen } from "../schema/json.ts";
import { createHash } from "node:crypto";
import { textOfBytes, type OptionFields } from "../options/option.ts";
import { scopeList } from "../tags/scopes.ts";

/** The view that a caller came by, and the program that they use. */
export interface CallerView {
  /** The view's name; never empty. */
  readonly surface: string;
  readonly project?: string;
  /** The `User-Agent` of the program. */
  readonly userAgent?: string;
  /** The name and version that the program sent in its handshake. Nothing proves them. */
  readonly client?: { readonly name: string; readonly version: string };
}

/** The view of a caller who names none. */
export const defaultView = "default";

/** The user or program that a call is made for. Never holds their access token, which ends where it is verified. */
export interface Caller {
  /**
   * The caller's name, the same on every request. Unique within `issuer`, `clientId` and the identity claims only: keep what
   * belongs to a caller under {@link callerKey}, not under `id`.
   */
  readonly id: string;
  /** The authority that names the caller, such as the `iss` of their token. */
  readonly issuer?: string;
  /** Whether the caller did not sign in: over standard input and output, and over HTTP without `auth`. */
  readonly isAnonymous: boolean;
  /**
   * Whether a tool calls for them, within its own authority: `scopes` are that authority. The default scopes of entries are then
   * required of an anonymous caller, too.
   */
  readonly isTool?: true;
  /** The scopes that the caller was granted. An anonymous caller has none, unless the server's options grant some. */
  readonly scopes: readonly string[];
  /** The program that acts for them, if their token names it. */
  readonly clientId?: string;
  /** Unix time (seconds) when the token expires. Streams and subscriptions opened with it are closed then. */
  readonly expiresAt?: number;
  /** The actions that the caller may do to things of the application, by `type:id`; `type:*` is every thing of a type. */
  readonly resources?: Readonly<Record<string, readonly string[]>>;
  /** The view that the caller came by. @default the view `default` */
  readonly view?: CallerView;
  /** Further facts that the verifier of the token passes to handlers. */
  readonly claims?: JsonObject;
}

/** The caller of a call without a signed-in user. Frozen. */
export const anonymous: Caller = Object.freeze({ id: "anonymous", isAnonymous: true, scopes: Object.freeze([]) });

/** Starts the key of an anonymous caller; a known caller's key starts with `[` or `#`. */
const anonymousPrefix = "anonymous ";
const anonymousKey = anonymousPrefix + anonymous.id;

/** The longest key that is used as it is, in UTF-16 units; a longer one is replaced by its SHA-256. */
const maxKeyLength = 256;

/** A key that the caller's own fields do not make. Opaque, because it may name claims that a handler does not receive. */
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

/**
 * Holds the {@link GivenKey} of a caller. Enumerable, so that `{ ...caller, scopes: [] }` keeps it; and registered, so that two
 * copies of this package know it.
 */
const kGivenKey: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.caller-key");

type KeyedCaller = Caller & { readonly [kGivenKey]?: GivenKey };

/** The keys of callers that cannot change. */
const keys = new WeakMap<Caller, string>();

function toKey({ issuer, id, clientId }: Caller, claims: JsonObject = {}): string {
  const named = Object.keys(claims).length === 0 ? "" : canonicalText(claims);
  const key = JSON.stringify([issuer, id, clientId, named]);
  return key.length > maxKeyLength ? `#${createHash("sha256").update(key).digest("base64url")}` : key;
}

/**
 * Returns the identity of a caller as one text: issuer, id, client and claims. Two callers that differ in one of them never
 * share a key. Everything kept for a caller is kept under this key, never under `id`: sessions, streams, consent, parts of
 * large values, limits, places. A copy with other scopes has the same key.
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

/** Returns a caller whose key counts only these claims. Without names every claim counts. */
export function identifiedBy(caller: Caller, names: readonly string[] | undefined): Caller {
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

/** Returns a frozen copy of a caller with another view. Hands a kept key on, because every request over HTTP makes such copies. */
export function withCallerView(caller: Caller, view: CallerView): Caller {
  const copy = Object.freeze({ ...caller, view });
  const known = keys.get(caller);
  if (known !== undefined) keys.set(copy, known);
  return copy;
}

/** Returns a caller who chooses a view or a project. What the choice leaves out stays as it is. */
export function choosingView(
  caller: Caller,
  { surface, project }: { readonly surface?: string | undefined; readonly project?: string | undefined },
): Caller {
  const { view } = caller;
  const chosen = { ...view, surface: surface ?? view?.surface ?? defaultView };
  return withCallerView(caller, project === undefined ? chosen : { ...chosen, project });
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

/** Returns everything a handler can tell a caller by as one text: {@link grantKey}, the view and all claims. */
export function visibleKey(caller: Caller): string {
  return JSON.stringify([grantKey(caller), caller.view, caller.claims]);
}

/** The view and the scopes of callers that no token describes. */
interface ViewOptions {
  readonly surface?: string;
  readonly project?: string;
  readonly scopes?: readonly string[];
}

/** The longest name of a view or a project, in bytes; over HTTP the same. */
const name = textOfBytes(256);

/** Options of the view and the scopes of callers that no token describes. */
export const viewFields: OptionFields<ViewOptions> = { surface: name, project: name, scopes: scopeList };
