import { callable, having, type OptionFields, withDefault } from "../../options/option.ts";
import { readOptions } from "../../options/read-options.ts";
import { type HttpAuth, resourceOption, toUrlText } from "../auth/http-auth.ts";
import { LiveTokens } from "./live-tokens.ts";
import { MemoryTokenStore, type TokenRecord, type TokenStore } from "./token-store.ts";
import { readExpiry, readGrant, type TokenGrant } from "./read-grant.ts";

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
