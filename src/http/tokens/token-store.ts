import type { JsonObject } from "../../schema/json.ts";
import { SurfaceError } from "../../errors.ts";

/** What is kept of a token: everything but the token. Its JSON is all of it. */
export interface TokenRecord {
  /** Names the token, for who revokes it. Says nothing of it. */
  readonly tokenId: string;
  /** SHA-256 of the token, in base64url. */
  readonly hash: string;
  /** The server that it was made for. */
  readonly resource: string;
  /** Who it speaks for. */
  readonly id: string;
  readonly scopes: readonly string[];
  readonly resources?: Readonly<Record<string, readonly string[]>>;
  readonly clientId?: string;
  readonly claims?: JsonObject;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** Seconds since 1970 from which on it is no good. Left out: it does not expire. */
  readonly expiresAt?: number;
}

/** Where the records of tokens are kept. What it throws, or rejects with, lets nobody in. */
export interface TokenStore {
  add(record: TokenRecord): Promise<void> | void;
  /** The record of exactly this hash. */
  find(hash: string): Promise<TokenRecord | undefined> | TokenRecord | undefined;
  /** Forgets a token. Says whether there was one. */
  remove(tokenId: string): Promise<boolean> | boolean;
  /** All that there are. */
  list(): Promise<readonly TokenRecord[]> | readonly TokenRecord[];
}

const maxTokens = 10_000;

/** Keeps records in memory, at most 10,000: those that have expired make room for others. */
export class MemoryTokenStore implements TokenStore {
  readonly #byHash = new Map<string, TokenRecord>();
  readonly #hashOf = new Map<string, string>();
  readonly #now: () => number;

  /** @param now - milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws SurfaceError `OVERFLOW` where there are 10,000 that have not expired. */
  add(record: TokenRecord): void {
    if (this.#byHash.size >= maxTokens) this.#forgetExpired();
    if (this.#byHash.size >= maxTokens) {
      throw new SurfaceError("OVERFLOW", `Minting a token: there are ${maxTokens} already, and none has expired`);
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
    const now = this.#now() / 1000;
    for (const { tokenId, expiresAt } of this.#byHash.values()) {
      if (expiresAt !== undefined && expiresAt <= now) this.remove(tokenId);
    }
  }
}
