import { randomUUID } from "node:crypto";
import { callerKey, grantKey } from "../../surface/caller-key.ts";
import { defaultView, type Caller } from "../../surface/caller.ts";
import type { AskRecord, Asking } from "../../catalog/asking.ts";
import { SurfaceError } from "../../errors.ts";
import type { JsonObject } from "../../schema/json.ts";
import { canonical } from "../../surface/owner/canonical.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { Claims } from "./claims.ts";
import { Sealer } from "./sealer.ts";

/** The request that a state belongs to: with any other it is no state. */
export interface AskSubject {
  readonly caller: Caller;
  readonly method: string;
  /** What is called or read: a name or a URI. */
  readonly target: string;
  readonly args: JsonObject;
}

/** What states are kept by. */
export interface AskStatesSetting {
  /** Names the app: others may have the same secret. Default: none. */
  readonly app?: string | undefined;
  /** Default: made anew. */
  readonly secret?: Uint8Array | undefined;
  /** Takes a state for used, once. Default: in memory. */
  readonly claim?: ((id: string, expiresAt: number) => boolean | Promise<boolean>) | undefined;
  /** Milliseconds since 1970. Default: this machine's. */
  readonly now?: (() => number) | undefined;
}

/** What a state holds. Nobody but a process with the same secret has made it. */
interface State {
  readonly id: string;
  readonly expiresAt: number;
  /** The keys of what was asked last. */
  readonly open: readonly string[];
  readonly record: AskRecord;
}

/** What a state says. */
export interface OpenedState extends Pick<State, "open" | "record"> {
  /** Takes it for used: `true` once. Rejects where whoever counts what is used fails, or takes longer than 5 s. */
  readonly claim: () => Promise<unknown>;
}

/** Who counts what is used may ask another machine; for longer than this no call waits for it, in milliseconds. */
const claimMs = 5000;

/** Returns what a state is bound to: the request, its caller with their grants, and the view. */
function toAbout(app: string, { caller, method, target, args }: AskSubject): string {
  const { surface = defaultView, project = null } = caller.view ?? {};
  return JSON.stringify([app, method, target, canonical(args), grantKey(caller), surface, project]);
}

/** Resolves as what is waited for does; rejects where that takes too long. */
function soon(claiming: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const late = new SurfaceError("TIMEOUT", `Claiming a state: no answer within ${claimMs} ms`);
    const stop = systemClock.after(claimMs, () => reject(late));
    Promise.resolve(claiming).finally(stop).then(resolve, reject);
  });
}

/**
 * What calls had come to that ended with questions, sealed, for their clients to keep until they have answers. Each opens in time,
 * for the same request of the same caller, and is used once.
 */
export class AskStates {
  readonly #sealer: Sealer;
  readonly #app: string;
  /** Who of whom nothing is known asks shares what is remembered with the others of whom nothing is. */
  readonly #claim: (state: State, caller: Caller) => unknown;
  readonly #now: () => number;

  constructor({ app = "", secret, claim, now = Date.now }: AskStatesSetting = {}) {
    this.#app = app;
    this.#sealer = new Sealer(secret);
    this.#now = now;
    const claims = new Claims(now);
    this.#claim = ({ id, expiresAt }, caller) =>
      claim === undefined ? claims.take(id, expiresAt, callerKey(caller)) : claim(id, expiresAt);
  }

  /** Seals the record of a call. The state expires with the longest time that one of its open questions has. */
  seal({ open, record }: Asking, subject: AskSubject): string {
    const most = Math.max(...Object.values(open).map(({ timeoutMs }) => timeoutMs));
    const state: State = { id: randomUUID(), expiresAt: this.#now() + most, open: Object.keys(open), record };
    return this.#sealer.seal(JSON.stringify(state), toAbout(this.#app, subject));
  }

  /** Opens a state; `undefined` where it is none that may be used, but for those that were used before. */
  open(sealed: string, subject: AskSubject): OpenedState | undefined {
    const text = this.#sealer.open(sealed, toAbout(this.#app, subject));
    if (text === undefined) return undefined;
    // Written by seal(): nobody else has the secret.
    const state = JSON.parse(text) as State;
    const { expiresAt, open, record } = state;
    if (expiresAt <= this.#now()) return undefined;
    return { open, record, claim: async () => soon(this.#claim(state, subject.caller)) };
  }
}
