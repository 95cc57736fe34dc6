import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, randomUUID } from "node:crypto";
import type { Cluster } from "../../cluster/cluster.ts";
import type { RequestState, Asking } from "../../catalog/asking/asking.ts";
import type { JsonObject } from "../../schema/json.ts";
import { callerKey, grantKey, defaultView, type Caller } from "../../surface/caller.ts";
import { canonical } from "../../surface/owner/canonical.ts";
import { withTimeout } from "../../surface/system-clock.ts";

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/** The prefix of a sealed text: the version of the format. */
const version = "s2.";

/** The longest sealed text, in characters. A record is bounded to less. */
const maxSealed = 128 * 1024;

/** Seals texts for clients to keep: without the secret they cannot read, change or make one. */
export class Sealer {
  readonly #key: Buffer;

  /** @param secret - of any length. @default a random key, so that no other process can open what this one seals */
  constructor(secret?: Uint8Array) {
    // The first HKDF of a process takes 5 ms, and random bytes are a key without it.
    this.#key =
      secret === undefined
        ? randomBytes(keyBytes)
        : Buffer.from(hkdfSync("sha256", secret, "", "surface-mcp requestState", keyBytes));
  }

  /** Seals a text, which opens only with the same `about`. */
  seal(text: string, about: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.#key, iv, { authTagLength: tagBytes });
    cipher.setAAD(Buffer.from(version + about));
    const sealed = [iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
    return version + Buffer.concat(sealed).toString("base64url");
  }

  /** Opens a sealed text; `undefined` for a text that this secret did not seal in exactly this form, about the same. */
  open(sealed: string, about: string): string | undefined {
    if (!sealed.startsWith(version) || sealed.length > maxSealed) return undefined;
    const written = sealed.slice(version.length);
    const bytes = Buffer.from(written, "base64url");
    // The decoder is lenient: only one spelling of the same bytes counts.
    if (bytes.length < ivBytes + tagBytes || bytes.toString("base64url") !== written) return undefined;
    const decipher = createDecipheriv(algorithm, this.#key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(version + about));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    try {
      return decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return undefined;
    }
  }
}

/** The used ids of one caller, with the time when each expires. */
interface Used {
  readonly ids: Map<string, number>;
  /** No id expires before: until then a full share is refused without a look at each id. */
  soonest: number;
}

/**
 * Remembers used ids until they expire, so that each is used once. Refuses new ids while it is full: an id that it forgot could be
 * used again. Each caller has a share, so that none takes the room of the others.
 */
export class Claims {
  readonly #now: () => number;
  readonly #bounds: Readonly<Record<"most" | "share", number>>;
  readonly #callers = new Map<string, Used>();
  #size = 0;

  /**
   * @param now - the time, on the scale of `expiresAt`.
   * @param bounds - the number of used ids that are remembered: of all callers, and of one.
   */
  constructor(now: () => number, bounds: Readonly<Record<"most" | "share", number>> = { most: 65_536, share: 8192 }) {
    this.#now = now;
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#size;
  }

  /** Marks an id of a caller as used. Returns `false` if it was used before, or if there is no room. */
  take(id: string, expiresAt: number, caller: string): boolean {
    const { most, share } = this.#bounds;
    const used = this.#callers.get(caller) ?? { ids: new Map<string, number>(), soonest: Number.POSITIVE_INFINITY };
    if (used.ids.has(id)) return false;
    if (used.ids.size >= share) this.#forget(caller, used);
    if (this.#size >= most) for (const [other, theirs] of this.#callers) this.#forget(other, theirs);
    if (used.ids.size >= share || this.#size >= most) return false;
    this.#callers.set(caller, used);
    used.ids.set(id, expiresAt);
    used.soonest = Math.min(used.soonest, expiresAt);
    this.#size += 1;
    return true;
  }

  #forget(caller: string, used: Used): void {
    const now = this.#now();
    if (now < used.soonest) return;
    for (const [id, expiresAt] of used.ids) if (expiresAt <= now && used.ids.delete(id)) this.#size -= 1;
    used.soonest = Math.min(...used.ids.values());
    if (used.ids.size === 0) this.#callers.delete(caller);
  }
}

/** The request that a state belongs to: it opens with no other. */
export interface AskSubject {
  readonly caller: Caller;
  readonly method: string;
  /** The name or the URI that the request is for. */
  readonly target: string;
  readonly args: JsonObject;
}

/** Options of {@link AskStates}. */
export interface AskStatesOptions {
  /** The name of the app: another app may have the same secret. @default none */
  readonly app?: string | undefined;
  /** @default random */
  readonly secret?: Uint8Array | undefined;
  /** Marks a state as used, once. @default in memory */
  readonly claim?: ((id: string, expiresAt: number) => boolean | Promise<boolean>) | undefined;
  /** Milliseconds since 1970. @default the clock of this machine */
  readonly now?: (() => number) | undefined;
}

interface State {
  readonly id: string;
  readonly expiresAt: number;
  /** The keys of the questions that ended the last round. */
  readonly open: readonly string[];
  readonly record: RequestState;
}

/** A state that was opened. */
export interface OpenedState extends Pick<State, "open" | "record"> {
  /** Marks it as used: `true` once. Rejects if the author's function rejects or takes longer than 5 s. */
  readonly claim: () => Promise<unknown>;
}

/** Keys in the store of a cluster. */
const secretKey = "asking.secret";
const secretLifeMs = 10 * 365 * 24 * 3600 * 1000;

/** The longest that a call waits for the author's `claim`, which may ask another machine, in milliseconds. */
const claimMs = 5000;

/**
 * Seals the records of calls that ended with questions, for their clients to keep until they have answers. A state opens until it
 * expires, for the same request of the same caller with the same rights and view, and is used once.
 */
export class AskStates {
  #sealer: Sealer;
  readonly #app: string;
  readonly #hasSecret: boolean;
  #claim: AskStatesOptions["claim"];
  readonly #claims: Claims;
  readonly #clock: () => number;
  /** What the clock of the store is ahead of the clock of this machine, in milliseconds. */
  #aheadMs = 0;

  constructor({ app = "", secret, claim, now = Date.now }: AskStatesOptions = {}) {
    this.#app = app;
    this.#hasSecret = secret !== undefined;
    this.#sealer = new Sealer(secret);
    this.#clock = now;
    this.#claim = claim;
    this.#claims = new Claims(() => this.#now());
  }

  /**
   * Seals by one secret in all replicas and claims in their store, as far as the author has set neither. States that were sealed
   * before the replicas have agreed open on this one only, or on none. Returns a function that ends it.
   */
  shareIn({ store, bus }: Pick<Cluster, "store" | "bus">): () => void {
    const claimShared = (id: string, expiresAt: number): Promise<boolean> =>
      store.claim(`ask:${id}`, "used", Math.max(1, expiresAt - this.#now()));
    this.#claim ??= claimShared;
    let own = randomBytes(keyBytes).toString("base64url");
    const agree = async (): Promise<void> => {
      const sentAt = this.#clock();
      this.#aheadMs = (await store.now()) - (sentAt + this.#clock()) / 2;
      if (this.#hasSecret) return;
      const isOwn = await store.claim(secretKey, own, secretLifeMs);
      own = (isOwn ? own : await store.get(secretKey)) ?? own;
      this.#sealer = new Sealer(Buffer.from(own, "base64url"));
    };
    // The cluster reports an outage itself, and calls gap() when the store is back: it may be another one.
    const gap = (): void => void agree().catch(() => {});
    gap();
    return bus.subscribe("asking", { message: () => {}, gap });
  }

  #now(): number {
    return this.#clock() + this.#aheadMs;
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
    // Written by seal(): no one else has the secret.
    const state = JSON.parse(text) as State;
    const { id, expiresAt, open, record } = state;
    if (expiresAt <= this.#now()) return undefined;
    // All anonymous callers have one share of the memory.
    const claim = async (): Promise<unknown> => {
      if (this.#claim === undefined) return this.#claims.take(id, expiresAt, callerKey(subject.caller));
      return withTimeout(this.#claim(id, expiresAt), claimMs, "Claiming a state");
    };
    return { open, record, claim };
  }

  #about({ caller, method, target, args }: AskSubject): string {
    const { surface = defaultView, project = null } = caller.view ?? {};
    return JSON.stringify([this.#app, method, target, canonical(args), grantKey(caller), surface, project]);
  }
}
