import { randomBytes } from "node:crypto";
import type { BusListener, Cluster } from "../../src/cluster/cluster.ts";
import { SurfaceError } from "../../src/errors.ts";

const away = (): Promise<never> =>
  Promise.reject(new SurfaceError("UNAVAILABLE", "Cannot use the store: there is none"));

/** Replicas whose bus loses texts on request, and announces that as a gap. Their store is away. */
export class LossyCluster {
  /** Texts that were published. */
  readonly texts: { readonly from: string; readonly topic: string; readonly text: string }[] = [];
  readonly #listeners = new Map<string, Map<string, Set<BusListener>>>();
  /** Replicas that lose the texts which they would receive. */
  readonly #deaf = new Set<string>();

  replica(): Cluster {
    const replica = randomBytes(4).toString("hex");
    const own = new Map<string, Set<BusListener>>();
    this.#listeners.set(replica, own);
    return {
      replica,
      bus: {
        publish: (topic, text) => this.#publish(replica, topic, text),
        subscribe: (topic, listener) => {
          const all = own.get(topic) ?? new Set();
          own.set(topic, all.add(listener));
          return () => void all.delete(listener);
        },
      },
      store: {
        get: away,
        set: away,
        claim: away,
        swap: away,
        renew: away,
        delete: away,
        take: away,
        leave: away,
        now: away,
      },
      log: { append: away, read: away },
      limiter: { take: away },
      isAvailable: false,
      lapses: 0,
      isAlive: away,
      open: () => ({ ready: away(), close: async () => {} }),
    };
  }

  /** Number of subscriptions that are open. */
  get listeners(): number {
    let count = 0;
    for (const own of this.#listeners.values()) for (const all of own.values()) count += all.size;
    return count;
  }

  /** Loses every text to a replica until {@link heal}. */
  cut(replica: string): void {
    this.#deaf.add(replica);
  }

  /** Ends a loss, and announces it. */
  heal(replica: string): void {
    if (!this.#deaf.delete(replica)) return;
    for (const all of this.#listeners.get(replica)?.values() ?? []) for (const listener of [...all]) listener.gap();
  }

  /** Sends a text as if a replica had. */
  inject(topic: string, text: string): void {
    this.#publish("", topic, text);
  }

  #publish(from: string, topic: string, text: string): void {
    this.texts.push({ from, topic, text });
    for (const [to, own] of this.#listeners) {
      if (to === from || this.#deaf.has(to)) continue;
      setImmediate(() => {
        for (const listener of [...(own.get(topic) ?? [])]) listener.message(text);
      });
    }
  }
}
