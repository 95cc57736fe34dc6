import { callable, having, type OptionFields, withDefault } from "../../options/option.ts";
import { readOptions, invalidOption } from "../../options/read-options.ts";
import { type HttpAuth, resourceOption, toUrlText } from "../auth/http-auth.ts";
import { MemoryTokenStore, type TokenRecord, type TokenStore } from "./token-store.ts";
import { assertKnownOptions } from "../../options/known-names.ts";
import type { JsonObject } from "../../schema/json.ts";
import { claimsField, filledField, readFields, resourcesField, scopeTokensField } from "../auth/caller-fields.ts";

/** Begins every token, so that whoever scans for secrets that were left lying about knows one. */
const prefix = "smcp_";
const tokenForm = /^smcp_[A-Za-z0-9_-]{43}$/;

const encoder = new TextEncoder();

function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCodePoint(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Makes a token of 256 bits that nobody can guess. */
export function makeToken(): string {
  return prefix + toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

/** Whether a text may be a token of ours. */
export function isToken(text: string): boolean {
  return tokenForm.test(text);
}

/**
 * What is kept in a token's place. One round is enough, for nobody can guess 256 bits; and who compares hashes tells by the time
 * that it takes nothing of the token.
 */
export async function hashToken(token: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(token))));
}

/** What {@link tokenRegistry} takes. */
export interface TokenRegistryOptions {
  /** The server that the tokens are for: the same as that of `bearer()`. */
  readonly resource: string | URL;
  /** Where records are kept. Default: in memory, at most 10,000, and gone with the process. */
  readonly store?: TokenStore;
  /** Milliseconds since 1970. Default: this machine's. */
  readonly now?: () => number;
}

/** A token that was minted. */
export interface MintedToken {
  /** The token itself. It is kept nowhere: nobody can be shown it again. */
  readonly token: string;
  /** Names it, for {@link TokenRegistry.revoke}. */
  readonly tokenId: string;
  /** Seconds since 1970 from which on it is no good. Left out: it does not expire. */
  readonly expiresAt?: number;
}

/** A token as it is listed: nothing that could be used. */
export type ListedToken = Omit<TokenRecord, "hash">;

/** Tokens of your own making: minted once, kept as hashes, good until they are taken back. Needs no disposing. */
export interface TokenRegistry {
  /**
   * Makes a token. Rejects with `INVALID_OPTION` for a grant that makes no sense, `OVERFLOW` where there are too many in memory,
   * and with whatever the store does.
   */
  mint(this: void, grant: TokenGrant): Promise<MintedToken>;
  /** Says what is in a token, for `bearer()`. Rejects with whatever the store does. */
  readonly verify: HttpAuth["verify"];
  /** Takes one token back: the next request with it is answered 401, and what is listened to with it ends. Says whether there was one. */
  revoke(this: void, tokenId: string): Promise<boolean>;
  /** Takes back all tokens that speak for somebody. Says how many there were. */
  revokeCaller(this: void, id: string): Promise<number>;
  /** The tokens that are good now. */
  list(this: void): Promise<readonly ListedToken[]>;
}

const fields = {
  resource: resourceOption,
  store: having(["add", "find", "remove", "list"], "an object with the methods add, find, remove and list"),
  now: withDefault(callable, Date.now),
} satisfies OptionFields<TokenRegistryOptions>;

function isGood({ expiresAt = Number.POSITIVE_INFINITY }: TokenRecord, now: number): boolean {
  return now / 1000 < expiresAt;
}

/**
 * Makes tokens for callers that you know, for example the runners that register with you. A token has 256 bits, is shown once and
 * kept as a SHA-256; what leaks with the store is no token. Revoking one in another process, over a store that both share, holds
 * from its next request on, and does not end what is listened to here: give such tokens a time.
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
  const { resource, now, store = new MemoryTokenStore(now) } = readOptions(options, fields, "Making tokenRegistry()");
  const live = new LiveTokens();
  const find = async (hash: string): Promise<TokenRecord | undefined> => {
    const record = await store.find(hash);
    // A store that ignores case finds records of other hashes, too.
    return record?.hash === hash && isGood(record, now()) ? record : undefined;
  };
  const revoke = async (tokenId: string): Promise<boolean> => {
    const wasThere = await store.remove(tokenId);
    // After the removal: clients that are told come back at once.
    live.revoke(tokenId);
    return wasThere;
  };
  return Object.freeze({
    revoke,
    async mint(grant: TokenGrant) {
      const at = now();
      const granted = readGrant(grant);
      const expiry = readExpiry(grant, at);
      const token = makeToken();
      const tokenId = crypto.randomUUID();
      const kept = { tokenId, hash: await hashToken(token), resource: toUrlText(resource), createdAt: at / 1000 };
      await store.add(Object.freeze({ ...kept, ...granted, ...expiry }));
      return Object.freeze({ token, tokenId, ...expiry });
    },
    async verify(token: string) {
      if (!isToken(token)) return undefined;
      const hash = await hashToken(token);
      const found = await live.look(() => find(hash));
      if (found === undefined) return undefined;
      const { tokenId: _tokenId, hash: _hash, createdAt: _createdAt, ...verified } = found.found;
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
      return all.filter((one) => isGood(one, at)).map(({ hash: _hash, ...listed }) => listed);
    },
  });
}

/** How many tokens are followed: more than are kept in memory, so that only a store of somebody else's has so many. */
const maxFollowed = 16_384;

/** A token that was looked for, and is good now. */
export interface LiveToken<TFound> {
  readonly found: TFound;
  /** Fires when it is taken back: the same for all who found it. */
  readonly revoked: AbortSignal;
}

/** Tells whatever follows a token that it was taken back. Holds nothing that is to be disposed. */
export class LiveTokens {
  /** By token, the one that was asked for last behind all others. */
  readonly #followed = new Map<string, AbortController>();
  /** Those that were taken back while somebody looked for one, for each who looks. */
  readonly #looking = new Set<Set<string>>();

  /** A token is no good from now on. */
  revoke(tokenId: string): void {
    for (const revoked of this.#looking) revoked.add(tokenId);
    this.#end(tokenId);
  }

  /**
   * Looks for a token, and follows it from the moment on in which it is found: what is taken back meanwhile is not found, also
   * where a slow store has it still, and nothing is taken back between the two. Of too many that are followed, that which was
   * looked for longest ago is told that it was taken back: who has to come back is asked who they are.
   *
   * @param find - rejects with whatever the store does.
   */
  async look<TFound extends { readonly tokenId: string }>(
    find: () => Promise<TFound | undefined>,
  ): Promise<LiveToken<TFound> | undefined> {
    const revoked = new Set<string>();
    this.#looking.add(revoked);
    try {
      const found = await find();
      if (found === undefined || revoked.has(found.tokenId)) return undefined;
      return { found, revoked: this.#follow(found.tokenId) };
    } finally {
      this.#looking.delete(revoked);
    }
  }

  #follow(tokenId: string): AbortSignal {
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

/** What a token is minted for. */
export interface TokenGrant {
  /** Who it speaks for: the same for every token of theirs, and nobody else's. At most 1 KiB. */
  readonly id: string;
  readonly scopes: readonly string[];
  /** What they may do to things of the application's own: actions by `type:id`, where `type:*` is all of a type. */
  readonly resources?: Readonly<Record<string, readonly string[]>>;
  /** The program that acts for them. */
  readonly clientId?: string;
  /** What handlers may know besides. */
  readonly claims?: JsonObject;
  /** Milliseconds until it is no good any more. Default: it is good until it is revoked. */
  readonly expiresInMs?: number;
}

/** The part of a record that a grant says. */
export type Granted = Pick<TokenRecord, "id" | "scopes" | "resources" | "clientId" | "claims">;

const doing = "Minting a token";
const grantFields = {
  id: { ...filledField, isRequired: true },
  scopes: scopeTokensField,
  resources: resourcesField,
  clientId: filledField,
  claims: claimsField,
};
const names = [...Object.keys(grantFields), "expiresInMs"];

/**
 * Checks what a token is to be minted for, and makes a copy of it.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function readGrant(grant: TokenGrant): Granted {
  assertKnownOptions(grant, names, doing);
  // Each field has the type of its copy.
  return readFields(grant, grantFields, (problem) => invalidOption(doing, problem)) as Granted;
}

/**
 * When it is no good any more, in seconds since 1970.
 *
 * @param now - milliseconds since 1970.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function readExpiry({ expiresInMs }: TokenGrant, now: number): Pick<TokenRecord, "expiresAt"> {
  if (expiresInMs === undefined) return {};
  if (Number.isFinite(expiresInMs) && expiresInMs > 0) return { expiresAt: (now + expiresInMs) / 1000 };
  throw invalidOption(doing, '"expiresInMs" must be a number of milliseconds above 0');
}
