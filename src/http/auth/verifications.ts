import { createHash } from "node:crypto";
import type { Budget } from "../../spine/budget.ts";
import type { Clock } from "../../spine/clock.ts";
import { networkOf } from "../network-of.ts";

/** How long a refused token is refused without asking the verifier again, in milliseconds. */
export const refusedForMs = 2000;

/** Most tokens that are remembered of each sort. */
export const maxRemembered = 4096;

/** Places for tokens that are being verified. */
export interface VerificationBudgets {
  /** Of tokens that were never good here: by network. */
  readonly verifications: Budget;
  /** Of tokens that were good the last time: by token. */
  readonly knownVerifications: Budget;
}

/** A token that may be verified. */
export interface Verification {
  /** Gives the place back. Callable twice. */
  over(): void;
  /** Remembers the verifier's answer. Not called when the verifier fails. */
  settle(isGood: boolean): void;
}

/** Hashes of tokens, with a number each. The oldest go first. */
class Remembered {
  readonly #hashes = new Map<string, number>();

  get(hash: string): number | undefined {
    return this.#hashes.get(hash);
  }

  set(hash: string, value: number): void {
    this.#hashes.delete(hash);
    this.#hashes.set(hash, value);
    if (this.#hashes.size <= maxRemembered) return;
    for (const oldest of this.#hashes.keys()) return void this.#hashes.delete(oldest);
  }

  delete(hash: string): void {
    this.#hashes.delete(hash);
  }
}

/**
 * Decides which tokens are verified at once. Anybody can send tokens, and a verifier may take long to refuse them: tokens that
 * were good before have places of their own, so that they never wait behind unknown ones. No token is kept, only its hash.
 */
export class Verifications {
  readonly #budgets: VerificationBudgets;
  readonly #clock: Clock;
  readonly #good = new Remembered();
  readonly #refusedUntil = new Remembered();

  constructor(budgets: VerificationBudgets, clock: Clock) {
    this.#budgets = budgets;
    this.#clock = clock;
  }

  /** Takes a place. `refused`: the verifier refused this token a moment ago. `busy`: there is no place. */
  open(token: string, address: string | undefined): Verification | "refused" | "busy" {
    const hash = createHash("sha256").update(token).digest("base64");
    if ((this.#refusedUntil.get(hash) ?? 0) > this.#clock.now()) return "refused";
    const { knownVerifications, verifications } = this.#budgets;
    const isKnown = this.#good.get(hash) !== undefined;
    const network = address === undefined ? undefined : networkOf(address);
    const place = isKnown ? knownVerifications.open(hash) : verifications.open(network);
    if (place.take(1) !== undefined) return "busy";
    return { over: () => place.release(), settle: (isGood) => this.#settle(hash, isGood) };
  }

  #settle(hash: string, isGood: boolean): void {
    if (isGood) return this.#good.set(hash, 1);
    this.#good.delete(hash);
    this.#refusedUntil.set(hash, this.#clock.now() + refusedForMs);
  }
}
