import { createHash } from "node:crypto";
import { callerKey } from "../../surface/caller-key.ts";
import type { Caller } from "../../surface/caller.ts";
import { SurfaceError } from "../../errors.ts";
import type { Budget } from "../../spine/budget.ts";
import type { Clock } from "../../spine/clock.ts";
import { untilAborted } from "../../spine/until-aborted.ts";
import { networkOf } from "../network-of.ts";
import type { Leaving } from "./authenticator.ts";
import { PlaceQueue } from "./place-queue.ts";
import { type Outcome, SharedVerification } from "./shared-verification.ts";
import { withoutToken } from "./without-token.ts";

/** Time for which a refused token is refused without asking the verifier again, in milliseconds. */
export const refusedForMs = 2000;

/** Most tokens that are remembered of each sort. */
export const maxRemembered = 4096;

/** Places for tokens that are being verified. */
export interface VerificationBudgets {
  /** For tokens that were never good here, by network. */
  readonly verifications: Budget;
  /** For tokens that were good the last time, by caller. */
  readonly knownVerifications: Budget;
}

/** Dependencies of {@link Verifications}. */
export interface VerificationsDeps {
  readonly budgets: VerificationBudgets;
  readonly clock: Clock;
  /** Longest time for a place, and again for the verifier, in milliseconds. */
  readonly timeoutMs: number;
  /** Asks the verifier. May throw or reject. */
  readonly verify: (token: string, signal: AbortSignal) => Promise<unknown>;
  /** Reads the answer of the verifier; `undefined` for a token that is not valid. Throws for an answer without meaning. */
  readonly read: (verdict: unknown, token: string) => Caller | undefined;
}

/** Values by the hash of a token. The oldest go first. */
class Remembered<TValue> {
  readonly #values = new Map<string, TValue>();

  get(hash: string): TValue | undefined {
    return this.#values.get(hash);
  }

  set(hash: string, value: TValue): void {
    this.#values.delete(hash);
    this.#values.set(hash, value);
    if (this.#values.size <= maxRemembered) return;
    for (const oldest of this.#values.keys()) return void this.#values.delete(oldest);
  }

  delete(hash: string): void {
    this.#values.delete(hash);
  }
}

/** A verification that waits for its place or runs. */
interface Run {
  readonly token: string;
  readonly hash: string;
  readonly shared: SharedVerification;
}

/**
 * Verifies tokens, each once at a time: requests with the same token share the running verification. Anyone can send tokens, and
 * a verifier may take long to refuse them. So tokens that were good before have places by caller, and never wait for unknown
 * ones. Keeps the hashes of tokens, never tokens.
 */
export class Verifications {
  readonly #deps: VerificationsDeps;
  readonly #unknown: PlaceQueue;
  readonly #known: PlaceQueue;
  readonly #running = new Map<string, SharedVerification>();
  readonly #good = new Remembered<string>();
  readonly #refusedUntil = new Remembered<number>();

  constructor(deps: VerificationsDeps) {
    this.#deps = deps;
    const { budgets, clock, timeoutMs } = deps;
    this.#unknown = new PlaceQueue(budgets.verifications, clock, timeoutMs);
    this.#known = new PlaceQueue(budgets.knownVerifications, clock, timeoutMs);
  }

  /** Verifies a token for one client. Never rejects. */
  verify(token: string, address: string | undefined, reply: Leaving): Outcome | Promise<Outcome> {
    const hash = createHash("sha256").update(token).digest("base64");
    if ((this.#refusedUntil.get(hash) ?? 0) > this.#deps.clock.now()) return "refused";
    const running = this.#running.get(hash);
    if (running !== undefined) return running.join(reply);
    const shared = new SharedVerification();
    this.#running.set(hash, shared);
    const outcome = shared.join(reply);
    this.#begin({ token, hash, shared }, address);
    return outcome;
  }

  #begin(run: Run, address: string | undefined): void {
    const { hash, shared } = run;
    const caller = this.#good.get(hash);
    const queue = caller === undefined ? this.#unknown : this.#known;
    const withdraw = queue.take(caller ?? (address === undefined ? undefined : networkOf(address)), (place) => {
      if (place === undefined) this.#end(run, "busy");
      else void this.#run(run, () => queue.release(place));
    });
    shared.onAbandoned = () => {
      withdraw();
      this.#end(run, "left");
    };
  }

  /** @param over - gives the place back: when the verifier is done, or its time is over, even if it heeds no signal. */
  async #run(run: Run, over: () => void): Promise<void> {
    const { token, hash, shared } = run;
    const { clock, timeoutMs } = this.#deps;
    const doing = "Verifying a token";
    const stop = clock.after(timeoutMs, () => {
      shared.abort(new SurfaceError("TIMEOUT", `${doing}: there was no answer within ${timeoutMs} ms`));
      over();
    });
    // An async function: the verifier may throw at once.
    const start = async (): Promise<unknown> => {
      try {
        return await this.#deps.verify(token, shared.signal);
      } finally {
        stop();
        over();
      }
    };
    try {
      const verdict = await untilAborted({ start, signal: shared.signal, doing });
      const caller = this.#deps.read(verdict, token);
      this.#remember(hash, caller);
      this.#end(run, caller ?? "refused");
    } catch (cause) {
      // A failure for no client is no failure of the verifier.
      if (this.#running.get(hash) === shared) this.#end(run, withoutToken(cause, token));
    }
  }

  #end({ hash, shared }: Run, outcome: Outcome): void {
    if (this.#running.get(hash) === shared) this.#running.delete(hash);
    shared.settle(outcome);
  }

  #remember(hash: string, caller: Caller | undefined): void {
    if (caller !== undefined) return this.#good.set(hash, callerKey(caller));
    this.#good.delete(hash);
    this.#refusedUntil.set(hash, this.#deps.clock.now() + refusedForMs);
  }
}
