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
