import { createHash } from "node:crypto";
import { SurfaceError } from "../../errors.ts";
import type { Budget, Share } from "../../spine/budget.ts";
import type { Clock } from "../../spine/clock.ts";
import { setNewest } from "../../spine/collections.ts";
import { handleThrown } from "../../spine/handle-thrown.ts";
import { untilAborted } from "../../spine/signals.ts";
import { callerKey, type Caller } from "../../surface/caller.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { networkOf } from "../admission.ts";
import type { HttpBudgets } from "../budgets.ts";
import type { HttpReply } from "../message.ts";

const doing = "Cannot verify a token";

/** Time for which a refused token is refused without asking the verifier again, in milliseconds. */
const refusedForMs = 2000;

/** Most tokens that are remembered of each sort. */
const maxRemembered = 4096;

/** Budgets of verifications: of tokens that were not valid before, by network, and of tokens that were valid, by caller. */
export type VerificationBudgets = Pick<HttpBudgets, "verifications" | "knownVerifications">;

/** Dependencies of {@link Verifications}. */
export interface VerificationsDeps {
  readonly budgets: VerificationBudgets;
  readonly clock: Clock;
  /** Milliseconds to wait for a slot, and again for the verifier. */
  readonly timeoutMs: number;
  /** Calls the verifier. May throw or reject. */
  readonly verify: (token: string, signal: AbortSignal) => Promise<unknown>;
  /** Reads the answer of the verifier; `undefined` for a token that is not valid. Throws for an invalid answer. */
  readonly read: (verdict: unknown, token: string) => Caller | undefined;
}

/**
 * Result of a verification: a caller; `refused` for a token that is not valid; `busy` if the verifier was not called; `left` if the
 * client has left; an error if the verifier failed.
 */
type Outcome = Caller | SurfaceError | "refused" | "busy" | "left";

/** The part of a reply that reports a client that leaves. */
export type Leaving = Pick<HttpReply, "isOver" | "onGone">;

/** Most requests that wait for the verification of one token. */
const maxClients = 1024;

const left = new SurfaceError("ABORTED", `${doing}: its client has left`);

/** A verification that waits for its slot or runs, for all requests with the token that come before it is settled. */
class Verification {
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
 * a verifier may take long to refuse them. So tokens that were valid before have slots by caller, and never wait for unknown
 * ones. Keeps the hashes of tokens, never tokens.
 */
export class Verifications {
  readonly #deps: VerificationsDeps;
  readonly #unknown: SlotQueue;
  readonly #known: SlotQueue;
  readonly #running = new Map<string, Verification>();
  /** The key of the caller of a token that was valid the last time, by the hash of the token. */
  readonly #valid = new Map<string, string>();
  readonly #refusedUntil = new Map<string, number>();

  constructor(deps: VerificationsDeps) {
    this.#deps = deps;
    const { budgets, clock, timeoutMs } = deps;
    this.#unknown = new SlotQueue(budgets.verifications, clock, timeoutMs);
    this.#known = new SlotQueue(budgets.knownVerifications, clock, timeoutMs);
  }

  /** Verifies a token for one client. Never rejects. */
  verify(token: string, address: string | undefined, reply: Leaving): Outcome | Promise<Outcome> {
    const hash = createHash("sha256").update(token).digest("base64");
    if ((this.#refusedUntil.get(hash) ?? 0) > this.#deps.clock.now()) return "refused";
    const running = this.#running.get(hash);
    if (running !== undefined) return running.join(reply);
    const run = new Verification(token, hash);
    this.#running.set(hash, run);
    const outcome = run.join(reply);
    this.#begin(run, address);
    return outcome;
  }

  #begin(run: Verification, address: string | undefined): void {
    const caller = this.#valid.get(run.hash);
    const queue = caller === undefined ? this.#unknown : this.#known;
    const withdraw = queue.take(caller ?? (address === undefined ? undefined : networkOf(address)), (slot) => {
      if (slot === undefined) this.#end(run, "busy");
      else void this.#run(run, () => queue.release(slot));
    });
    const onAbandoned = (): void => {
      withdraw();
      this.#end(run, "left");
    };
    run.onAbandoned = onAbandoned;
  }

  /** @param over - releases the slot: when the verifier is done, or its time is over, even if it ignores its signal. */
  async #run(run: Verification, over: () => void): Promise<void> {
    const { token, hash, controller } = run;
    const { signal } = controller;
    const { clock, timeoutMs, verify, read } = this.#deps;
    const stop = clock.after(timeoutMs, () => {
      controller.abort(new SurfaceError("TIMEOUT", `${doing}: the verifier did not answer within ${timeoutMs} ms`));
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
      // Without a client, the verifier was aborted and did not fail.
      if (this.#running.get(hash) === run) this.#end(run, toVerifierError(cause, token));
    }
  }

  #end(run: Verification, outcome: Outcome): void {
    if (this.#running.get(run.hash) === run) this.#running.delete(run.hash);
    run.settle(outcome);
  }

  #remember(hash: string, caller: Caller | undefined): void {
    if (caller !== undefined) return void setNewest(this.#valid, [hash, callerKey(caller)], maxRemembered);
    this.#valid.delete(hash);
    setNewest(this.#refusedUntil, [hash, this.#deps.clock.now() + refusedForMs], maxRemembered);
  }
}

/** Most requests for a slot that wait in one queue. */
const maxWaiting = 1024;

/** Receives a slot that was taken, or `undefined` if there was none in time. */
type OnSlot = (slot: Share | undefined) => void;

interface Waiting {
  readonly key: string | undefined;
  readonly onSlot: OnSlot;
  stop: (() => void) | undefined;
}

/**
 * Hands out the slots of a budget, and lets requests wait while all slots are taken. A free slot goes to the key that holds the
 * fewest, and there to the newest request: a burst of one sender then delays neither other senders nor its successors. Over
 * {@link maxWaiting} the oldest request of the key with the most waiting requests gets no slot.
 */
class SlotQueue {
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

  /** Takes a slot, within the call if there is one. Returns a function that stops waiting. */
  take(key: string | undefined, onSlot: OnSlot): () => void {
    const waiting: Waiting = { key, onSlot, stop: undefined };
    if (this.#budget.hasRoom(key, 1)) {
      this.#grant(waiting);
      return () => {};
    }
    this.#add(waiting);
    if (this.#count > maxWaiting) this.#giveUpOne();
    return () => void this.#remove(waiting);
  }

  /** Releases a slot, and hands it to a request that waits. Callable twice. */
  release(slot: Share): void {
    slot.release();
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

  /** Ends a wait, with a slot if there is room. */
  #settle(waiting: Waiting): void {
    if (this.#remove(waiting)) this.#grant(waiting);
  }

  /** Takes a slot; the budget counts a refusal if there is no room. */
  #grant({ key, onSlot }: Waiting): void {
    const slot = this.#budget.open(key);
    onSlot(slot.take(1) === undefined ? slot : undefined);
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

const maxDepth = 4;
const maxChars = 4096;
/** Shorter parts of a token occur in other words by chance. */
const shortestPart = 16;

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return `a thrown ${typeof cause}`;
  return typeof cause.stack === "string" ? cause.stack : `${cause.name}: ${cause.message}`;
}

/** Describes a failure and its causes. Leaves out other properties: errors of HTTP clients hold the whole request. */
function describeAll(cause: unknown): string {
  const described: string[] = [];
  for (let at: unknown = cause; at !== undefined && described.length < maxDepth;) {
    described.push(describe(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return described.join("\ncaused by ");
}

function toPattern(secret: string): string {
  const literal = secret.replaceAll(/[^\w]/g, String.raw`\$&`);
  return secret.length >= shortestPart ? literal : String.raw`(?<!\w)${literal}(?!\w)`;
}

/** Removes a token, and its longer parts, from a text. */
export function withoutSecrets(text: string, token: string): string {
  const parts = token.split(".").filter((part) => part.length >= shortestPart);
  const secrets = [...new Set([token, encodeURIComponent(token), ...parts])];
  // In one pass, so that a replacement is not searched again.
  return text.replaceAll(new RegExp(secrets.map(toPattern).join("|"), "g"), "[token]");
}

/** Describes the failure of a verifier without the token. Never throws. */
function toVerifierError(cause: unknown, token: string): SurfaceError {
  handleThrown(cause);
  let text: string;
  try {
    text = withoutSecrets(describeAll(cause), token).slice(0, maxChars);
  } catch {
    // A proxy, or a getter that throws.
    text = "a value that cannot be read";
  }
  return new SurfaceError("UNAVAILABLE", `${doing}: the verifier failed with ${text}`);
}

const intervalMs = 10_000;

/** Most different faults that are reported in one interval: a message may contain parts of a request. */
const maxFaults = 32;

/** A reported fault. */
interface Reported {
  readonly at: number;
  readonly correlationId: string | undefined;
  repeats: number;
}

/** Returns the messages of an error and its causes. Their stacks differ from call to call. */
function toKind({ code, message }: SurfaceError): string {
  const lines = message.split("\n").filter((line) => !/^\s+at /.test(line));
  return `${code} ${lines.join("\n")}`;
}

/**
 * Reports the faults of a verifier: each fault once in ten seconds, with the number of its repeats, since anyone can send tokens
 * and make the verifier fail.
 */
export class VerifierFaults {
  readonly #clock: Clock;
  readonly #report: FaultReporter;
  /** By kind, the oldest report first. */
  readonly #reported = new Map<string, Reported>();
  /** Number of failures that no report counts. */
  #leftOut = 0;

  constructor(clock: Clock, report: FaultReporter) {
    this.#clock = clock;
    this.#report = report;
  }

  /**
   * Counts a failure. Returns the id under which the same fault was reported in this interval; `undefined` if too many other
   * faults were.
   */
  add(cause: SurfaceError): string | undefined {
    const at = this.#clock.now();
    const kind = toKind(cause);
    const reported = this.#reported.get(kind);
    if (reported !== undefined && this.#isRecent(reported, at)) {
      reported.repeats += 1;
      return reported.correlationId;
    }
    this.#forget(at);
    if (this.#reported.size >= maxFaults) {
      this.#leftOut += 1;
      return undefined;
    }
    const { correlationId } = internalError(cause, this.#describe(reported?.repeats ?? 0), this.#report);
    this.#reported.set(kind, { at, correlationId, repeats: 0 });
    return correlationId;
  }

  #isRecent({ at }: Reported, now: number): boolean {
    return now - at < intervalMs && now >= at;
  }

  /** Removes reports of earlier intervals if there is no room; until then the repeats of their faults are counted. */
  #forget(now: number): void {
    if (this.#reported.size < maxFaults) return;
    for (const [kind, reported] of this.#reported) {
      if (this.#isRecent(reported, now)) continue;
      this.#leftOut += reported.repeats;
      this.#reported.delete(kind);
    }
  }

  #describe(repeats: number): string {
    const again = repeats === 0 ? "" : `, which has failed ${repeats} times more in this way since the last report`;
    const others = this.#leftOut === 0 ? "" : `, with ${this.#leftOut} other failures that were not reported`;
    this.#leftOut = 0;
    return `the verifier of tokens${again}${others}`;
  }
}
