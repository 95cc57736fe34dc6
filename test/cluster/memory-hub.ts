import { randomBytes } from "node:crypto";
import type { Bus, BusListener, Cluster, OpenClusterOptions, OpenedCluster } from "../../src/cluster/cluster.ts";
import { SurfaceError } from "../../src/errors.ts";
import { createPorts, MemoryContents } from "./memory-store.ts";

const maxTextBytes = 65_536;

/** A text on its way, for {@link MemoryHub.drop}. */
export interface Transit {
  readonly topic: string;
  readonly text: string;
  readonly from: string;
  readonly to: string;
}

/**
 * The replicas of one app in one process, and the faults between them. Texts arrive in a later microtask. Expiry follows `now`.
 *
 * @example
 * ```ts
 * const hub = memoryHub();
 * const [a, b] = [hub.join(), hub.join()];
 * hub.cut(b.replica); // b's store rejects, its bus is silent
 * hub.heal(b.replica); // gap() for listeners of b, and of the others if b lost texts
 * ```
 */
export interface MemoryHub {
  /** Makes the cluster of one more replica. */
  join(): Cluster;
  /** Takes a replica off the network. */
  cut(replica: string): void;
  /** Ends {@link cut}, after more than ten seconds. */
  heal(replica: string): void;
  /** Takes the store and the bus away from all replicas, or gives them back. */
  setAvailable(isAvailable: boolean): void;
  /** Ends a replica without a farewell: it is not alive from now on, and receives nothing. */
  kill(replica: string): void;
  /** Empties the store, as a failover to an empty one does: a gap for everybody. */
  clear(): void;
  /** Loses the texts for which the function returns true. Their receivers get a gap before the next text, or at {@link beat}. */
  drop(isLost: (transit: Transit) => boolean): void;
  /** Lets every replica give its sign of life: receivers find texts that they lost. */
  beat(): void;
}

/** Creates a hub. @param now - milliseconds, for expiry; @default Date.now */
export function memoryHub(now: () => number = () => Date.now()): MemoryHub {
  return new Hub(now);
}

class Hub implements MemoryHub {
  readonly contents: MemoryContents;
  readonly members = new Map<string, Member>();
  isAvailable = true;
  isLost: (transit: Transit) => boolean = () => false;
  #app: string | undefined;

  constructor(now: () => number) {
    this.contents = new MemoryContents(now);
  }

  join(): Cluster {
    const member = new Member(this);
    this.members.set(member.replica, member);
    return member;
  }

  /** Takes the hub for an app, or refuses another one. */
  claim(app: string): void {
    this.#app ??= app;
    if (this.#app === app) return;
    throw new SurfaceError(
      "INVALID_OPTION",
      `Cannot join the cluster: it is that of the app "${this.#app}"; give "${app}" a prefix of its own`,
    );
  }

  cut(replica: string): void {
    this.#memberOf(replica).isCut = true;
  }

  heal(replica: string): void {
    const member = this.#memberOf(replica);
    member.isCut = false;
    member.lapses++;
    member.gap();
    this.beat();
  }

  setAvailable(isAvailable: boolean): void {
    const isBack = isAvailable && !this.isAvailable;
    this.isAvailable = isAvailable;
    if (isBack) for (const member of this.members.values()) member.gap();
  }

  kill(replica: string): void {
    this.#memberOf(replica).isDead = true;
  }

  clear(): void {
    this.contents.clear();
    for (const member of this.members.values()) member.gap();
  }

  drop(isLost: (transit: Transit) => boolean): void {
    this.isLost = isLost;
  }

  beat(): void {
    for (const from of this.members.values())
      if (from.isReachable) for (const to of this.#othersThan(from)) to.hear(from);
  }

  send(from: Member, topic: string, text: string): void {
    from.sent++;
    if (!from.isReachable || Buffer.byteLength(text) > maxTextBytes) return;
    for (const to of this.#othersThan(from)) {
      if (this.isLost({ topic, text, from: from.replica, to: to.replica })) continue;
      const number = from.sent;
      queueMicrotask(() => to.receive(from, { topic, text, number }));
    }
  }

  #othersThan(from: Member): Member[] {
    return [...this.members.values()].filter((member) => member !== from && member.isListening);
  }

  #memberOf(replica: string): Member {
    const member = this.members.get(replica);
    if (member === undefined) throw new Error(`no replica ${replica}`);
    return member;
  }
}

class Member implements Cluster {
  readonly replica: string = randomBytes(8).toString("hex");
  readonly bus: Bus;
  readonly store: Cluster["store"];
  readonly log: Cluster["log"];
  readonly limiter: Cluster["limiter"];
  sent = 0;
  isCut = false;
  isDead = false;
  lapses = 0;
  readonly #hub: Hub;
  readonly #heard = new Map<Member, number>();
  readonly #listeners = new Map<string, Set<BusListener>>();
  #openers = 0;

  constructor(hub: Hub) {
    this.#hub = hub;
    const { store, log, limiter } = createPorts(hub.contents, () => {
      if (this.isReachable) return;
      throw new SurfaceError("UNAVAILABLE", "Cannot reach the shared store: it is away; try again later");
    });
    this.store = store;
    this.log = log;
    this.limiter = limiter;
    this.bus = {
      publish: (topic, text) => hub.send(this, topic, text),
      subscribe: (topic, listener) => this.#subscribe(topic, listener),
    };
  }

  get isReachable(): boolean {
    return this.#hub.isAvailable && !this.isCut && !this.isDead;
  }

  get isAvailable(): boolean {
    return this.isReachable;
  }

  get isListening(): boolean {
    return this.isReachable && this.#openers > 0;
  }

  async isAlive(replica: string): Promise<boolean> {
    await this.store.get("");
    const member = this.#hub.members.get(replica);
    return member !== undefined && member.isReachable && member.#openers > 0;
  }

  open({ app }: OpenClusterOptions): OpenedCluster {
    this.#openers++;
    for (const other of this.#hub.members.values()) this.#heard.set(other, other.sent);
    let isOpen = true;
    return {
      ready: this.store.get("").then(() => this.#hub.claim(app)),
      close: async () => {
        if (isOpen) this.#openers--;
        isOpen = false;
      },
    };
  }

  /** Receives a text. Those before it that are missing are a gap. */
  receive(
    from: Member,
    { topic, text, number }: { readonly topic: string; readonly text: string; readonly number: number },
  ): void {
    if (!this.isListening) return;
    const expected = (this.#heard.get(from) ?? 0) + 1;
    this.#heard.set(from, number);
    if (number !== expected) this.#announceGap();
    for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener.message(text);
  }

  /** Receives a sign of life. */
  hear(from: Member): void {
    const isComplete = (this.#heard.get(from) ?? 0) === from.sent;
    this.#heard.set(from, from.sent);
    if (!isComplete) this.#announceGap();
  }

  gap(): void {
    for (const other of this.#hub.members.values()) this.#heard.set(other, other.sent);
    this.#announceGap();
  }

  #announceGap(): void {
    if (!this.isListening) return;
    for (const listeners of [...this.#listeners.values()]) for (const listener of [...listeners]) listener.gap();
  }

  #subscribe(topic: string, listener: BusListener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    // Each subscription is a distinct object, so that one listener may subscribe twice.
    const one: BusListener = { message: (text) => listener.message(text), gap: () => listener.gap() };
    listeners.add(one);
    return () => void listeners.delete(one);
  }
}
