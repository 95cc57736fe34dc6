import { z } from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { CallContext } from "../../../src/call/call-context.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import { cell, collection, stream } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import type { LossyCluster } from "../../cluster/lossy-cluster.ts";
import { handlersOf } from "../../fixtures/handlers-of.ts";
import { atEndOfTest } from "../../setup/end-of-test.ts";
import { settle } from "../../surface/support.ts";

export const store = defineSurface("store", {
  stock: mcpResource(cell({ schema: z.number() })),
  orders: mcpResource(collection({ key: z.string(), schema: z.number() }), { listItems: true }),
  log: mcpResource(stream({ output: z.string() })),
  hidden: cell({ schema: z.number() }),
});

/** How a replica reads the database: at once or later, and who hears of a change: the replica that made it, or every one. */
export interface Way {
  readonly answers: "at once" | "later";
  readonly hears: "own" | "all";
}

type Change = { readonly set: readonly string[]; readonly removed: readonly string[] };

/** A database that several replicas share. */
export class Database {
  stock = 0;
  readonly orders = new Map<string, number>([["a", 0]]);
  reads = 0;
  readonly way: Way;
  readonly #listeners = new Map<number, Set<(change: never) => void>>();
  #turn = 0;

  constructor(way: Way) {
    this.way = way;
  }

  /** Number of subscriptions to the database. */
  get listeners(): number {
    let count = 0;
    for (const all of this.#listeners.values()) count += all.size;
    return count;
  }

  /** Changes something, as the replica of this number. */
  write(by: number, change: (database: this) => void): void {
    change(this);
    const told: Change = { set: [...this.orders.keys()], removed: [] };
    for (const [at, all] of this.#listeners) {
      if (this.way.hears === "own" && at !== by) continue;
      for (const listener of [...all]) listener(told as never);
    }
  }

  read<TValue>(make: () => TValue): TValue {
    this.reads += 1;
    if (this.way.answers === "at once") return make();
    const later = async (): Promise<TValue> => {
      this.#turn += 1;
      const took = this.#turn % 3;
      await settle(took % 2);
      const value = make();
      await settle(took);
      return value;
    };
    // A source may answer later; its types say so for each of its functions.
    return later() as TValue;
  }

  subscribe(at: number) {
    return (listener: (change: never) => void) => {
      const all = this.#listeners.get(at) ?? new Set();
      this.#listeners.set(at, all.add(listener));
      return () => void all.delete(listener);
    };
  }
}

export const stockUri = "surface://store/stock";

interface ReplicasOptions {
  readonly cluster: LossyCluster;
  readonly database: Database;
  readonly windowMs?: number;
}

/** One replica of an app over a database. */
export class Replica {
  readonly runtime: AppRuntime;
  readonly id: string;

  constructor({ cluster, database, windowMs = 0 }: ReplicasOptions, at: number) {
    const subscribe = database.subscribe(at);
    this.runtime = mcp(store, { changeWindowMs: windowMs, onFault: () => {} })
      .implement({
        stock: { get: () => database.read(() => database.stock), subscribe },
        orders: {
          keys: () => database.read(() => [...database.orders.keys()]),
          get: (key: string) => database.read(() => database.orders.get(key)),
          subscribe,
        },
        log: async function* () {
          yield "line";
        },
        hidden: { get: () => 1, subscribe: () => () => {} },
      })
      .resources({ mine: { read: () => "mine" } })
      .pull()
      .open();
    const joined = cluster.replica();
    this.id = joined.replica;
    this.runtime.join(joined);
    atEndOfTest(() => this.runtime.close());
  }

  async read(uri = stockUri): Promise<unknown> {
    const request = { era: "modern", call: new CallContext() } as const;
    const answer = await handlersOf(this.runtime)["resources/read"]({ uri }, request);
    return answer.kind === "error" ? undefined : JSON.parse(JSON.parse(`{${answer.body}}`).contents[0].text);
  }

  /** Calls `wait_for_change`, and resolves with its answer. */
  async waitForChange(uri = stockUri): Promise<unknown> {
    const request = { era: "modern", call: new CallContext() } as const;
    const call = { name: "wait_for_change", arguments: { uris: [uri], timeout_ms: 60_000 } };
    const answer = await handlersOf(this.runtime)["tools/call"](call, request);
    return answer.kind === "error" ? answer.message : JSON.parse(`{${answer.body}}`).structuredContent;
  }

  /** Watches a resource. Resolves when no change is missed from then on, with a function that ends it. */
  watch(changed: () => void, uri = stockUri): Promise<() => void> {
    return new Promise((resolve) => {
      const end = this.runtime.resources.watch(anonymous, uri, {
        changed,
        opened: () => queueMicrotask(() => resolve(end ?? (() => {}))),
      });
    });
  }
}

export function replicas(count: number, options: ReplicasOptions): readonly Replica[] {
  return Array.from({ length: count }, (_, at) => new Replica(options, at));
}
