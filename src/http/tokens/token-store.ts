import type { JsonObject } from "../../schema/json.ts";

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
