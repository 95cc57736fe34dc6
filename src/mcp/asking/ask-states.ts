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

/** The request that a state belongs to: it opens with no other. */
export interface AskSubject {
  readonly caller: Caller;
  readonly method: string;
  /** The name or the URI that the request is for. */
  readonly target: string;
  readonly args: JsonObject;
}

/** What {@link AskStates} are given. */
export interface AskStatesSetting {
  /** The name of the app: another app may have the same secret. @default none */
  readonly app?: string | undefined;
  /** @default random */
  readonly secret?: Uint8Array | undefined;
  /** Marks a state as used, once. @default in memory */
  readonly claim?: ((id: string, expiresAt: number) => boolean | Promise<boolean>) | undefined;
  /** Milliseconds since 1970. @default the clock of this machine */
  readonly now?: (() => number) | undefined;
}

/** The content of a state. */
interface State {
  readonly id: string;
  readonly expiresAt: number;
  /** The keys of the questions that ended the last round. */
  readonly open: readonly string[];
  readonly record: AskRecord;
}

/** A state that was opened. */
export interface OpenedState extends Pick<State, "open" | "record"> {
  /** Marks it as used: `true` once. Rejects if the author's function rejects or takes longer than 5 s. */
  readonly claim: () => Promise<unknown>;
}

/** The longest that a call waits for the author's `claim`, which may ask another machine, in milliseconds. */
const claimMs = 5000;

/** Resolves as `claiming` does; rejects if that takes too long. */
function soon(claiming: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const late = new SurfaceError("TIMEOUT", `Claiming a state: no answer within ${claimMs} ms`);
    const stop = systemClock.after(claimMs, () => reject(late));
    Promise.resolve(claiming).finally(stop).then(resolve, reject);
  });
}

/**
 * Seals the records of calls that ended with questions, for their clients to keep until they have answers. A state opens until it
 * expires, for the same request of the same caller with the same rights and view, and is used once.
 */
export class AskStates {
  readonly #sealer: Sealer;
  readonly #app: string;
  /** All anonymous callers share the memory of used states that one caller has. */
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

  /** Seals the record of a call. The state expires with the open question that has the longest time. */
  seal({ open, record }: Asking, subject: AskSubject): string {
    const most = Math.max(...Object.values(open).map(({ timeoutMs }) => timeoutMs));
    const state: State = { id: randomUUID(), expiresAt: this.#now() + most, open: Object.keys(open), record };
    return this.#sealer.seal(JSON.stringify(state), this.#about(subject));
  }

  /** Opens a state; `undefined` for one that is forged, expired, or another request's. A used one opens, and cannot be claimed. */
  open(sealed: string, subject: AskSubject): OpenedState | undefined {
    const text = this.#sealer.open(sealed, this.#about(subject));
    if (text === undefined) return undefined;
    // Written by seal(): nobody else has the secret.
    const state = JSON.parse(text) as State;
    const { expiresAt, open, record } = state;
    if (expiresAt <= this.#now()) return undefined;
    return { open, record, claim: async () => soon(this.#claim(state, subject.caller)) };
  }

  #about({ caller, method, target, args }: AskSubject): string {
    const { surface = defaultView, project = null } = caller.view ?? {};
    return JSON.stringify([this.#app, method, target, canonical(args), grantKey(caller), surface, project]);
  }
}
