import { randomUUID } from "node:crypto";
import { defaultView, type Caller } from "../../catalog/caller.ts";
import type { AskRecord, Asking } from "../../catalog/asking.ts";
import type { JsonObject } from "../../schema/json.ts";
import { canonical } from "../../surface/owner/canonical.ts";
import { askTimeoutOf } from "./ask-method.ts";
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
  /** Takes it for used: `true` once. Throws, or rejects, where whoever counts what is used does. */
  readonly claim: () => boolean | Promise<boolean>;
}

/** What a state is about: who asked what, by which view. */
function toAbout({ caller, method, target, args }: AskSubject): string {
  const { surface = defaultView, project = null } = caller.view ?? {};
  return JSON.stringify([method, target, canonical(args), caller.id, surface, project]);
}

/**
 * What calls had come to that ended with questions, sealed, for their clients to keep until they have answers. Each opens in time,
 * for the same request of the same caller, and is used once.
 */
export class AskStates {
  readonly #sealer: Sealer;
  readonly #claim: NonNullable<AskStatesSetting["claim"]>;
  readonly #now: () => number;

  constructor({ secret, claim, now = Date.now }: AskStatesSetting = {}) {
    this.#sealer = new Sealer(secret);
    this.#now = now;
    const claims = new Claims(now);
    this.#claim = claim ?? ((id, expiresAt) => claims.take(id, expiresAt));
  }

  /** Seals what a call has come to. It can be opened for as long as the slowest of its questions may take. */
  seal({ open, record }: Asking, subject: AskSubject): string {
    const most = Math.max(...Object.values(open).map(({ kind }) => askTimeoutOf(kind)));
    const state: State = { id: randomUUID(), expiresAt: this.#now() + most, open: Object.keys(open), record };
    return this.#sealer.seal(JSON.stringify(state), toAbout(subject));
  }

  /** Opens a state; `undefined` where it is none that may be used, but for those that were used before. */
  open(sealed: string, subject: AskSubject): OpenedState | undefined {
    const text = this.#sealer.open(sealed, toAbout(subject));
    if (text === undefined) return undefined;
    // Written by seal(): nobody else has the secret.
    const { id, expiresAt, open, record } = JSON.parse(text) as State;
    if (expiresAt <= this.#now()) return undefined;
    return { open, record, claim: () => this.#claim(id, expiresAt) };
  }
}
