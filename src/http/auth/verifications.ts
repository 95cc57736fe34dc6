import { createHash } from "node:crypto";
import { callerKey, type Caller } from "../../surface/caller.ts";
import { SurfaceError } from "../../errors.ts";
import type { Budget, Share } from "../../spine/budget.ts";
import type { Clock } from "../../spine/clock.ts";
import { untilAborted } from "../../spine/signals.ts";
import { setNewest } from "../../spine/collections.ts";
import type { HttpBudgets } from "../budgets.ts";
import type { HttpReply } from "../message.ts";
import { networkOf } from "../admission.ts";
import { withoutToken } from "./verifier-faults.ts";

/** Time for which a refused token is refused without asking the verifier again, in milliseconds. */
const refusedForMs = 2000;

/** Most tokens that are remembered of each sort. */
const maxRemembered = 4096;

/** Places for tokens: those that were never good here, by network, and those that were good the last time, by caller. */
export type VerificationBudgets = Pick<HttpBudgets, "verifications" | "knownVerifications">;

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

/**
 * Result of a verification: a caller; `refused` for a token that is not valid; `busy` if the verifier was not asked; `left` if the
 * client has left; an error if the verifier failed.
 */
export type Outcome = Caller | SurfaceError | "refused" | "busy" | "left";

/** The part of a reply that tells whether its client has left. */
export type Leaving = Pick<HttpReply, "isOver" | "onGone">;

/** Most requests that wait for the verification of one token. */
const maxClients = 1024;

const left = new SurfaceError("ABORTED", "Verifying a token: its client has left");

/** A verification that waits for its place or runs, for all requests with the token that come before it is settled. */
class Run {
  readonly token: string;
  readonly hash: string;
  readonly controller: AbortController = new AbortController();
  /** Called when the last client has left. */
  onAbandoned: (() => void) | undefined;
  readonly #clients = new Set<(outcome: Outcome) => void>();

  constructor(token: string, hash: string) {
    this.token = token;
    this.hash = hash;
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
      const onGone = (): void => {
        this.#clients.delete(end);
        end("left");
        if (this.#clients.size > 0) return;
        this.controller.abort(left);
        this.onAbandoned?.();
      };
      reply.onGone = onGone;
    });
  }

  /** Gives every waiting client the outcome. */
  settle(outcome: Outcome): void {
    for (const end of this.#clients) end(outcome);
    this.#clients.clear();
  }
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
  readonly #running = new Map<string, Run>();
  /** The key of the caller of a token that was good the last time, by the hash of the token. */
  readonly #good = new Map<string, string>();
  readonly #refusedUntil = new Map<string, number>();

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
    const run = new Run(token, hash);
    this.#running.set(hash, run);
    const outcome = run.join(reply);
    this.#begin(run, address);
    return outcome;
  }

  #begin(run: Run, address: string | undefined): void {
    const caller = this.#good.get(run.hash);
    const queue = caller === undefined ? this.#unknown : this.#known;
    const withdraw = queue.take(caller ?? (address === undefined ? undefined : networkOf(address)), (place) => {
      if (place === undefined) this.#end(run, "busy");
      else void this.#run(run, () => queue.release(place));
    });
    const onAbandoned = (): void => {
      withdraw();
      this.#end(run, "left");
    };
    run.onAbandoned = onAbandoned;
  }

  /** @param over - gives the place back: when the verifier is done, or its time is over, even if it heeds no signal. */
  async #run(run: Run, over: () => void): Promise<void> {
    const { token, hash, controller } = run;
    const { signal } = controller;
    const { clock, timeoutMs, verify, read } = this.#deps;
    const doing = "Verifying a token";
    const stop = clock.after(timeoutMs, () => {
      controller.abort(new SurfaceError("TIMEOUT", `${doing}: there was no answer within ${timeoutMs} ms`));
      over();
    });
    // An async function: the verifier may throw at once.
    const start = async (): Promise<unknown> => {
      try {
        return await verify(token, signal);
      } finally {
        stop();
        over();
      }
    };
    try {
      const caller = read(await untilAborted({ start, signal, doing }), token);
      this.#remember(hash, caller);
      this.#end(run, caller ?? "refused");
    } catch (cause) {
      // A failure for no client is no failure of the verifier.
      if (this.#running.get(hash) === run) this.#end(run, withoutToken(cause, token));
    }
  }

  #end(run: Run, outcome: Outcome): void {
    if (this.#running.get(run.hash) === run) this.#running.delete(run.hash);
    run.settle(outcome);
  }

  #remember(hash: string, caller: Caller | undefined): void {
    if (caller !== undefined) return void setNewest(this.#good, [hash, callerKey(caller)], maxRemembered);
    this.#good.delete(hash);
    setNewest(this.#refusedUntil, [hash, this.#deps.clock.now() + refusedForMs], maxRemembered);
  }
}

/** Most requests for a place that wait in one queue. */
export const maxWaiting = 1024;

/** Receives a place that was taken, or `undefined` if there was none in time. */
export type OnPlace = (place: Share | undefined) => void;

interface Waiting {
  readonly key: string | undefined;
  readonly onPlace: OnPlace;
  stop: (() => void) | undefined;
}

/**
 * Hands out the places of a budget, and lets requests wait while all places are taken. A free place goes to the key that holds
 * the fewest, and there to the newest request: a burst of one sender then delays neither other senders nor its successors. Over
 * {@link maxWaiting} the oldest request of the key with the most waiting requests gets no place.
 */
export class PlaceQueue {
  readonly #budget: Budget;
  readonly #clock: Clock;
  readonly #waitMs: number;
  /** By key, the oldest first. */
  readonly #waiting = new Map<string | undefined, Waiting[]>();
  #count = 0;

  /** @param waitMs - longest wait of a request, in milliseconds. */
  constructor(budget: Budget, clock: Clock, waitMs: number) {
    this.#budget = budget;
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /** Takes a place, within the call if there is one. Returns a function that stops waiting. */
  take(key: string | undefined, onPlace: OnPlace): () => void {
    const waiting: Waiting = { key, onPlace, stop: undefined };
    if (this.#budget.hasRoom(key, 1)) {
      this.#grant(waiting);
      return () => {};
    }
    this.#add(waiting);
    if (this.#count > maxWaiting) this.#giveUpOne();
    return () => void this.#remove(waiting);
  }

  /** Gives a place back, and hands it to a request that waits. Callable twice. */
  release(place: Share): void {
    place.release();
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#settle(next);
  }

  #add(waiting: Waiting): void {
    const ofKey = this.#waiting.get(waiting.key);
    if (ofKey === undefined) this.#waiting.set(waiting.key, [waiting]);
    else ofKey.push(waiting);
    this.#count += 1;
    waiting.stop = this.#clock.after(this.#waitMs, () => this.#settle(waiting));
  }

  #remove(waiting: Waiting): boolean {
    const ofKey = this.#waiting.get(waiting.key) ?? [];
    const at = ofKey.lastIndexOf(waiting);
    if (at === -1) return false;
    ofKey.splice(at, 1);
    if (ofKey.length === 0) this.#waiting.delete(waiting.key);
    this.#count -= 1;
    waiting.stop?.();
    return true;
  }

  /** Ends a wait, with a place if there is room. */
  #settle(waiting: Waiting): void {
    if (this.#remove(waiting)) this.#grant(waiting);
  }

  /** Takes a place; the budget counts a refusal if there is no room. */
  #grant({ key, onPlace }: Waiting): void {
    const place = this.#budget.open(key);
    onPlace(place.take(1) === undefined ? place : undefined);
  }

  #next(): Waiting | undefined {
    let found: Waiting | undefined;
    let least = Infinity;
    for (const [key, ofKey] of this.#waiting) {
      const held = this.#budget.heldBy(key);
      if (held >= least || !this.#budget.hasRoom(key, 1)) continue;
      [found, least] = [ofKey.at(-1), held];
    }
    return found;
  }

  #giveUpOne(): void {
    let longest: readonly Waiting[] = [];
    for (const ofKey of this.#waiting.values()) if (ofKey.length > longest.length) longest = ofKey;
    const [oldest] = longest;
    if (oldest !== undefined) this.#settle(oldest);
  }
}
