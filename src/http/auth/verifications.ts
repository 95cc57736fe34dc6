/** How many tokens are verified at once, and how many of them on one connection. */
const maxVerifying = 256;
const maxOnConnection = 8;

/**
 * Counts the tokens that are being verified. Anybody can send tokens, and on one connection as many as fit: a verifier that
 * is slow would be asked of all of them at once.
 */
export class Verifications {
  readonly #onConnections = new Map<object, number>();
  #count = 0;

  /** Takes a place, where the connection is known one of that, too. Returns what gives it back, once; `undefined`: there is none. */
  open(connection: object | undefined): (() => void) | undefined {
    const own = connection === undefined ? 0 : (this.#onConnections.get(connection) ?? 0);
    if (this.#count >= maxVerifying || own >= maxOnConnection) return undefined;
    this.#count += 1;
    if (connection !== undefined) this.#onConnections.set(connection, own + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#close(connection);
    };
  }

  #close(connection: object | undefined): void {
    this.#count -= 1;
    if (connection === undefined) return;
    const left = (this.#onConnections.get(connection) ?? 0) - 1;
    if (left > 0) this.#onConnections.set(connection, left);
    else this.#onConnections.delete(connection);
  }
}
