import type { Caller } from "../../surface/caller.ts";
import { SurfaceError } from "../../errors.ts";
import type { Leaving } from "./authenticator.ts";

/** Most requests that wait for the verification of one token. */
export const maxClients = 1024;

/**
 * Result of a verification: a caller; `refused` for a token that is not valid; `busy` if the verifier was not asked; `left` if the
 * client has left; an error if the verifier failed.
 */
export type Outcome = Caller | SurfaceError | "refused" | "busy" | "left";

const left = new SurfaceError("ABORTED", "Verifying a token: its client has left");

/** One verification of a token, for all requests with the token that come before it is settled. */
export class SharedVerification {
  /** Called when the last client has left. */
  onAbandoned: (() => void) | undefined;
  readonly #controller = new AbortController();
  readonly #clients = new Set<(outcome: Outcome) => void>();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for the outcome. Uses `onGone` of the reply meanwhile. */
  join(reply: Leaving): Promise<Outcome> {
    if (this.#clients.size >= maxClients) return Promise.resolve("busy");
    return new Promise((resolve) => {
      const end = (outcome: Outcome): void => {
        reply.onGone = undefined;
        resolve(outcome);
      };
      this.#clients.add(end);
      reply.onGone = () => {
        this.#clients.delete(end);
        end("left");
        if (this.#clients.size > 0) return;
        this.abort(left);
        this.onAbandoned?.();
      };
    });
  }

  /** Aborts the verifier. */
  abort(reason: SurfaceError): void {
    this.#controller.abort(reason);
  }

  /** Gives every waiting client the outcome. */
  settle(outcome: Outcome): void {
    for (const end of this.#clients) end(outcome);
    this.#clients.clear();
  }
}
