import { SurfaceError } from "../../errors.ts";
import type { TokenRecord, TokenStore } from "./token-store.ts";

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
