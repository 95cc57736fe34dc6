import type { Cluster } from "../../cluster/cluster.ts";
import { SurfaceError } from "../../errors.ts";
import { assertKnownOptions } from "../../options/known-names.ts";
import { callable, objectWithMethods, type OptionFields, withDefault } from "../../options/option.ts";
import { readOptions, invalidOption } from "../../options/read-options.ts";
import type { JsonObject } from "../../schema/json.ts";
import { claimsField, filledField, readFields, resourcesField, scopeTokensField } from "./caller-fields.ts";
import { type HttpAuth, resourceOption, toUrlText } from "./http-auth.ts";

/** Caller, rights and lifetime of a new token. */
export interface TokenGrant {
  /** The caller: the same for all of their tokens, and different from that of every other caller. At most 1 KiB. */
  readonly id: string;
  readonly scopes: readonly string[];
  /** Granted actions on resources of the application, by `type:id`, where `type:*` means all of a type. */
  readonly resources?: Readonly<Record<string, readonly string[]>>;
  /** The program that acts for the caller. */
  readonly clientId?: string;
  /** More data for handlers. */
  readonly claims?: JsonObject;
  /** Milliseconds until the token expires. Default: never. */
  readonly expiresInMs?: number;
}

/** A stored token: everything but the token itself, in the form of JSON. */
export interface TokenRecord extends Omit<TokenGrant, "expiresInMs"> {
  /** Name of the token, for {@link TokenRegistry.revoke}. It does not reveal the token. */
  readonly tokenId: string;
  /** SHA-256 of the token, in base64url. */
  readonly hash: string;
  /** The server that the token is for. */
  readonly resource: string;
  /** Unix time (seconds). */
  readonly createdAt: number;
  /** Unix time (seconds) when the token expires. @default never */
  readonly expiresAt?: number;
}

/** A store of token records. If it throws or rejects, the request is refused. */
export interface TokenStore {
  add(record: TokenRecord): Promise<void> | void;
  /** Returns the record of exactly this hash. */
  find(hash: string): Promise<TokenRecord | undefined> | TokenRecord | undefined;
  /** Removes a token. Returns whether there was one. */
  remove(tokenId: string): Promise<boolean> | boolean;
  /** Returns all records. */
  list(): Promise<readonly TokenRecord[]> | readonly TokenRecord[];
}

/** Options of {@link tokenRegistry}. */
export interface TokenRegistryOptions {
  /** The server that the tokens are for: the same as that of `bearer()`. */
  readonly resource: string | URL;
  /** Store of the records. Default: in memory, at most 10,000, lost when the process ends. */
  readonly store?: TokenStore;
  /**
   * The replicas that share the `store`, made by `redis()`. A token that one revokes ends its streams on all of them.
   * Default: on this one only.
   */
  readonly cluster?: Cluster;
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number;
}

/** A new token. */
export interface MintedToken extends Pick<TokenRecord, "tokenId" | "expiresAt"> {
  /** The token itself. It is not stored, and cannot be shown again. */
  readonly token: string;
}

/** A token in a list: without its hash. */
export type ListedToken = Omit<TokenRecord, "hash">;

/** Tokens that your server creates: stored as hashes, valid until they expire or are revoked. Needs no disposing. */
export interface TokenRegistry {
  /**
   * Creates a token. Rejects with `INVALID_OPTION` for an invalid grant, `OVERFLOW` if there are too many in memory, and with the
   * errors of the store.
   */
  mint(this: void, grant: TokenGrant): Promise<MintedToken>;
  /** Verifies a token, for `bearer()`. Rejects with the errors of the store. */
  readonly verify: HttpAuth["verify"];
  /** Revokes a token: its next request gets 401, and its streams and subscriptions end. Returns whether there was one. */
  revoke(this: void, tokenId: string): Promise<boolean>;
  /** Revokes all tokens of a caller. Returns their number. */
  revokeCaller(this: void, id: string): Promise<number>;
  /** Returns the valid tokens. */
  list(this: void): Promise<readonly ListedToken[]>;
}

const creating = "Cannot create tokenRegistry()";

/** The topic on which replicas publish the ids of revoked tokens. */
const revokedTopic = "revoked";

const fields = {
  resource: resourceOption,
  store: objectWithMethods(["add", "find", "remove", "list"], "an object with the methods add, find, remove and list"),
  cluster: objectWithMethods(["open", "isAlive"], "made by redis() of surface-mcp/redis"),
  now: withDefault(callable, Date.now),
} satisfies OptionFields<TokenRegistryOptions>;

/**
 * Creates tokens for callers that you know, for example the runners that register with you. A token has 256 bits, is shown once and
 * kept as a SHA-256, so a leaked store reveals no token. If another process with the same store revokes a token, its next request
 * is refused, but without `cluster` its open streams here go on: give such tokens an expiry.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { bearer, tokenRegistry } from "surface-mcp/http";
 *
 * const resource = "https://ci.example/mcp";
 * const tokens = tokenRegistry({ resource });
 * const auth = bearer({ resource, verify: tokens.verify });
 * const { token, tokenId } = await tokens.mint({ id: "runner 7", scopes: ["ci:read"] });
 * ```
 */
export function tokenRegistry(options: TokenRegistryOptions): TokenRegistry {
  const { resource, now, cluster, store } = readRegistry(options);
  const revocations = new Revocations();
  cluster?.bus.subscribe(revokedTopic, {
    message: (tokenId) => revocations.revoke(tokenId),
    gap: () => void revocations.compare(store),
  });
  const find = async (hash: string): Promise<TokenRecord | undefined> => {
    const record = await store.find(hash);
    // A store that ignores case finds records of other hashes, too.
    return record?.hash === hash && isValid(record, now()) ? record : undefined;
  };
  const revoke = async (tokenId: string): Promise<boolean> => {
    const wasThere = await store.remove(tokenId);
    // After the removal, because clients reconnect at once.
    revocations.revoke(tokenId);
    cluster?.bus.publish(revokedTopic, tokenId);
    return wasThere;
  };
  return Object.freeze({
    revoke,
    async mint(grant: TokenGrant) {
      const at = now();
      const granted = readGrant(grant);
      const expiry = readExpiry(grant, at);
      const token = `smcp_${toBase64Url(crypto.getRandomValues(new Uint8Array(32)))}`;
      const tokenId = crypto.randomUUID();
      const kept = { tokenId, hash: await hashToken(token), resource: toUrlText(resource), createdAt: at / 1000 };
      await store.add(Object.freeze({ ...kept, ...granted, ...expiry }));
      return Object.freeze({ token, tokenId, ...expiry });
    },
    async verify(token: string) {
      if (!tokenForm.test(token)) return undefined;
      const hash = await hashToken(token);
      const found = await revocations.follow(() => find(hash));
      if (found === undefined) return undefined;
      const { tokenId: _tokenId, hash: _hash, createdAt: _createdAt, ...verified } = found.record;
      return { ...verified, revoked: found.revoked };
    },
    async revokeCaller(id: string) {
      const all = await store.list();
      const removed = await Promise.all(all.filter((one) => one.id === id).map(({ tokenId }) => revoke(tokenId)));
      return removed.filter(Boolean).length;
    },
    async list() {
      const all = await store.list();
      const at = now();
      return all.filter((one) => isValid(one, at)).map(({ hash: _hash, ...listed }) => listed);
    },
  });
}

function readRegistry(options: TokenRegistryOptions) {
  const read = readOptions(options, fields, creating);
  if (read.cluster !== undefined && read.store === undefined)
    throw invalidOption(creating, '"cluster" needs a "store" that all replicas share');
  return { ...read, store: read.store ?? new MemoryTokenStore(read.now) };
}

/** The prefix lets scanners for leaked secrets recognize a token. */
const tokenForm = /^smcp_[A-Za-z0-9_-]{43}$/;

const encoder = new TextEncoder();

function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCodePoint(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Hashes a token. One round is enough for 256 random bits, and the time of comparing hashes reveals nothing about the token. */
async function hashToken(token: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(token))));
}

function isValid({ expiresAt = Number.POSITIVE_INFINITY }: TokenRecord, now: number): boolean {
  return now / 1000 < expiresAt;
}

const minting = "Cannot mint a token";
const grantFields = {
  id: { ...filledField, isRequired: true },
  scopes: scopeTokensField,
  resources: resourcesField,
  clientId: filledField,
  claims: claimsField,
};

/** Validates a grant, and copies it. @throws SurfaceError `INVALID_OPTION`. */
function readGrant(grant: TokenGrant): Omit<TokenGrant, "expiresInMs"> {
  assertKnownOptions(grant, [...Object.keys(grantFields), "expiresInMs"], minting);
  // Each field has the type of its copy.
  return readFields(grant, grantFields, (problem) => invalidOption(minting, problem)) as Omit<
    TokenGrant,
    "expiresInMs"
  >;
}

function readExpiry({ expiresInMs }: TokenGrant, now: number): Pick<TokenRecord, "expiresAt"> {
  if (expiresInMs === undefined) return {};
  if (Number.isFinite(expiresInMs) && expiresInMs > 0) return { expiresAt: (now + expiresInMs) / 1000 };
  throw invalidOption(minting, '"expiresInMs" must be a number of milliseconds above 0');
}

/** Most tokens whose revocation is announced: more than are kept in memory, so that only an author's store has so many. */
const maxFollowed = 16_384;

/** Announces revocations to the streams and subscriptions of a token. Needs no disposing. */
class Revocations {
  /** By token id, the one that was verified last at the end. */
  readonly #followed = new Map<string, AbortController>();
  /** Tokens that were revoked during a lookup, for each lookup. */
  readonly #lookups = new Set<Set<string>>();

  revoke(tokenId: string): void {
    for (const revoked of this.#lookups) revoked.add(tokenId);
    this.#end(tokenId);
  }

  /** Revokes the tokens that a store no longer has: other replicas may have revoked them. All, if the store cannot tell. */
  async compare(store: Pick<TokenStore, "list">): Promise<void> {
    const all = [...this.#followed.keys()];
    let known: ReadonlySet<string>;
    try {
      known = new Set((await store.list()).map(({ tokenId }) => tokenId));
    } catch {
      // Their clients reconnect, and the store is asked for each.
      known = new Set();
    }
    for (const tokenId of all) if (!known.has(tokenId)) this.revoke(tokenId);
  }

  /**
   * Looks up a token, and returns it with the signal of its revocation. A token that is revoked meanwhile is not found, even if a slow
   * store still has it. Over {@link maxFollowed} the signal of the token that was verified the longest ago fires: its clients reconnect.
   */
  async follow(
    find: () => Promise<TokenRecord | undefined>,
  ): Promise<{ readonly record: TokenRecord; readonly revoked: AbortSignal } | undefined> {
    const revoked = new Set<string>();
    this.#lookups.add(revoked);
    try {
      const record = await find();
      if (record === undefined || revoked.has(record.tokenId)) return undefined;
      return { record, revoked: this.#signalOf(record.tokenId) };
    } finally {
      this.#lookups.delete(revoked);
    }
  }

  #signalOf(tokenId: string): AbortSignal {
    const controller = this.#followed.get(tokenId) ?? new AbortController();
    this.#followed.delete(tokenId);
    this.#followed.set(tokenId, controller);
    const [oldest] = this.#followed.keys();
    if (this.#followed.size > maxFollowed && oldest !== undefined) this.#end(oldest);
    return controller.signal;
  }

  #end(tokenId: string): void {
    const controller = this.#followed.get(tokenId);
    this.#followed.delete(tokenId);
    controller?.abort();
  }
}

const maxTokens = 10_000;

/** Keeps records in memory, at most 10,000. Expired ones make room for others. */
class MemoryTokenStore implements TokenStore {
  readonly #byHash = new Map<string, TokenRecord>();
  readonly #hashOf = new Map<string, string>();
  readonly #now: () => number;

  /** @param now - milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws SurfaceError `OVERFLOW` if there are 10,000 valid tokens. */
  add(record: TokenRecord): void {
    if (this.#byHash.size >= maxTokens) this.#forgetExpired();
    if (this.#byHash.size >= maxTokens) {
      const advice = 'revoke some, let them expire, or pass a "store" to tokenRegistry()';
      throw new SurfaceError("OVERFLOW", `${minting}: ${maxTokens} valid tokens are in memory already; ${advice}`);
    }
    this.#byHash.set(record.hash, record);
    this.#hashOf.set(record.tokenId, record.hash);
  }

  find(hash: string): TokenRecord | undefined {
    return this.#byHash.get(hash);
  }

  remove(tokenId: string): boolean {
    const hash = this.#hashOf.get(tokenId);
    if (hash === undefined) return false;
    this.#hashOf.delete(tokenId);
    return this.#byHash.delete(hash);
  }

  list(): readonly TokenRecord[] {
    this.#forgetExpired();
    return [...this.#byHash.values()];
  }

  #forgetExpired(): void {
    const now = this.#now();
    for (const record of this.#byHash.values()) if (!isValid(record, now)) this.remove(record.tokenId);
  }
}
