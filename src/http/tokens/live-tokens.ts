/** How many tokens are followed: more than are kept in memory, so that only a store of somebody else's has so many. */
const maxFollowed = 16_384;

/** Tells whatever follows a token that it was taken back. Holds nothing that is to be disposed. */
export class LiveTokens {
  /** By token, the one that was asked for last behind all others. */
  readonly #followed = new Map<string, AbortController>();
  /** Those that were taken back while somebody looked for one, for each who looks. */
  readonly #looking = new Set<Set<string>>();

  /**
   * Fires when a token is taken back: the same for all who follow it. Of too many, that which was asked for longest ago is told
   * so too: who has to come back is asked who they are.
   */
  follow(tokenId: string): AbortSignal {
    const controller = this.#followed.get(tokenId) ?? new AbortController();
    this.#followed.delete(tokenId);
    this.#followed.set(tokenId, controller);
    const [oldest] = this.#followed.keys();
    if (this.#followed.size > maxFollowed && oldest !== undefined) this.#end(oldest);
    return controller.signal;
  }

  /** A token is no good from now on. */
  revoke(tokenId: string): void {
    for (const revoked of this.#looking) revoked.add(tokenId);
    this.#end(tokenId);
  }

  /**
   * Looks for a token. What is taken back meanwhile is not found, also where a slow store has it still.
   *
   * @param find - rejects with whatever the store does.
   */
  async look<TFound extends { readonly tokenId: string }>(
    find: () => Promise<TFound | undefined> | TFound | undefined,
  ): Promise<TFound | undefined> {
    const revoked = new Set<string>();
    this.#looking.add(revoked);
    try {
      const found = await find();
      return found === undefined || revoked.has(found.tokenId) ? undefined : found;
    } finally {
      this.#looking.delete(revoked);
    }
  }

  #end(tokenId: string): void {
    const controller = this.#followed.get(tokenId);
    this.#followed.delete(tokenId);
    controller?.abort();
  }
}
