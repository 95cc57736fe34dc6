import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { changesTopic } from "../../../src/catalog/resources/shared-changes.ts";
import { endTest } from "../../setup/end-of-test.ts";
import { LossyCluster } from "../../cluster/lossy-cluster.ts";
import { settle } from "../../surface/support.ts";
import { Database, Replica, replicas, type Way } from "./replicas.ts";

const windowMs = 100;

/** Time that stands still until it is moved on. */
function stopTime() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  return async (ms: number): Promise<void> => {
    const step = ms > 10_000 ? 500 : 50;
    for (let passed = 0; passed < ms; passed += step) {
      vi.advanceTimersByTime(step);
      await settle(4);
    }
  };
}

/** One agent on a replica: it reads when it likes, and after each notice. */
class Agent {
  held: unknown;
  notices = 0;
  readonly #replica: Replica;
  #reads = 0;
  #end: (() => void) | undefined;
  #isJoining = false;
  #isFollowed = false;

  constructor(replica: Replica) {
    this.#replica = replica;
  }

  get isWatching(): boolean {
    return this.#end !== undefined;
  }

  async read(): Promise<void> {
    this.#reads += 1;
    const turn = this.#reads;
    const value = await this.#replica.read();
    if (turn === this.#reads && this.#isFollowed) this.held = value;
  }

  async watch(): Promise<void> {
    if (this.#isJoining || this.isWatching) return;
    this.#isJoining = true;
    let isOver = false;
    const end = await this.#replica.watch(() => {
      if (isOver) throw new Error("a notice came after the end");
      this.notices += 1;
      void this.read();
    });
    this.#isJoining = false;
    this.#end = () => {
      end();
      isOver = true;
    };
    // The others follow the resource from now on. Before, a value that came and went was told only to those who did.
    await settle(12);
    this.#isFollowed = true;
    await this.read();
  }

  leave(): void {
    if (this.#end === undefined) return;
    this.#end();
    this.#end = undefined;
    this.#isFollowed = false;
    this.held = undefined;
  }
}

const count = 3;
const at = fc.integer({ min: 0, max: count - 1 });
const turns = fc.constantFrom(0, 1, 2, 5);
// Few values, so that one comes back often.
const value = fc.integer({ min: 0, max: 2 });

const actions = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("write" as const), at, value, turns }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("watch" as const, "read" as const), at, turns }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("leave" as const, "cut" as const), at, turns }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("heal" as const), at, turns }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(50, 150, 2500, 35_000) }),
    },
  ),
  { minLength: 5, maxLength: 40 },
);

type Action = typeof actions extends fc.Arbitrary<readonly (infer TAction)[]> ? TAction : never;

interface World {
  readonly cluster: LossyCluster;
  readonly database: Database;
  readonly all: readonly Replica[];
  readonly agents: readonly Agent[];
  readonly pass: (ms: number) => Promise<void>;
}

async function act(action: Action, { cluster, database, all, agents, pass }: World): Promise<void> {
  if (action.do === "pass") return pass(action.ms);
  const [replica, agent] = [all[action.at], agents[action.at]];
  if (action.do === "write") database.write(action.at, (db) => (db.stock = action.value));
  else if (action.do === "watch" || action.do === "read") void agent?.[action.do]();
  else if (action.do === "leave") agent?.leave();
  else cluster[action.do](replica?.id ?? "");
  return settle(action.turns);
}

/** Schedules that once lost a change. */
const examples: [Action[]][] = [
  [
    [
      { do: "watch", at: 0, turns: 0 },
      { do: "pass", ms: 35_000 },
      { do: "write", at: 0, value: 1, turns: 0 },
      { do: "write", at: 1, value: 0, turns: 0 },
    ],
  ],
  [
    [
      { do: "watch", at: 0, turns: 0 },
      { do: "pass", ms: 50 },
      { do: "write", at: 2, value: 1, turns: 0 },
      { do: "cut", at: 2, turns: 0 },
      { do: "pass", ms: 50 },
      { do: "write", at: 0, value: 0, turns: 5 },
      { do: "write", at: 2, value: 0, turns: 0 },
      { do: "write", at: 2, value: 1, turns: 0 },
    ],
  ],
  [
    [
      { do: "watch", at: 0, turns: 0 },
      { do: "pass", ms: 50 },
      { do: "cut", at: 2, turns: 0 },
      { do: "write", at: 0, value: 2, turns: 2 },
      { do: "write", at: 2, value: 0, turns: 0 },
    ],
  ],
  [
    [
      { do: "cut", at: 0, turns: 0 },
      { do: "watch", at: 1, turns: 5 },
      { do: "read", at: 0, turns: 2 },
      { do: "write", at: 0, value: 1, turns: 0 },
      { do: "leave", at: 0, turns: 1 },
      { do: "heal", at: 0, turns: 5 },
      { do: "write", at: 0, value: 0, turns: 0 },
      { do: "write", at: 0, value: 0, turns: 0 },
      { do: "write", at: 0, value: 0, turns: 0 },
    ],
  ],
];

const ways = (["at once", "later"] as const).flatMap((answers) =>
  (["own", "all"] as const).map((hears): Way => ({ answers, hears })),
);

describe("changes over several replicas", () => {
  it.each(ways)("reach every watcher in the end, and end with it: $answers, $hears", async (way) => {
    const pass = stopTime();
    await fc.assert(
      fc.asyncProperty(actions, async (drawn) => {
        const cluster = new LossyCluster();
        const database = new Database(way);
        const all = replicas(count, { cluster, database, windowMs });
        const agents = all.map((replica) => new Agent(replica));
        const world: World = { cluster, database, all, agents, pass };
        for (const action of drawn) await act(action, world);
        for (const { id } of all) cluster.heal(id);
        await pass(6000);
        const behind = agents.filter(({ isWatching, held }) => isWatching && held !== database.stock);
        expect(behind.map(({ held }) => held)).toEqual([]);
        // Quiet once nothing changes.
        const [notices, reads] = [agents.map((agent) => agent.notices), database.reads];
        const texts = cluster.texts.filter(({ text }) => text.includes('"],')).length;
        await pass(9000);
        expect([agents.map((agent) => agent.notices), database.reads]).toEqual([notices, reads]);
        expect(cluster.texts.filter(({ text }) => text.includes('"],')).length).toBe(texts);
        for (const agent of agents) agent.leave();
        // A replica that lost the text of the end forgets the watch by itself.
        await pass(41_000);
        expect(database.listeners).toBe(0);
        await endTest();
      }),
      { numRuns: 40, examples },
    );
  });
});

describe("the cost of changes over four replicas", () => {
  it.each(ways)("is a bounded number of texts and notices for 1,000 changes: $answers, $hears", async (way) => {
    const pass = stopTime();
    const cluster = new LossyCluster();
    const database = new Database(way);
    const all = replicas(4, { cluster, database, windowMs });
    const agents = all.map((replica) => new Agent(replica));
    for (const agent of agents) void agent.watch();
    await pass(1000);
    const [before, reads] = [cluster.texts.length, database.reads];
    for (let n = 1; n <= 1000; n += 1) {
      database.write(0, (db) => (db.stock = n));
      await settle(1);
      if (n % 10 === 0) await pass(50);
    }
    await pass(3000);
    const texts = cluster.texts.slice(before).filter(({ topic }) => topic === changesTopic).length;
    const windows = (100 * 50 + 3000) / windowMs;
    // One text a window of each replica that hears of the change, and a few more.
    expect(texts).toBeLessThan((way.hears === "own" ? 2 : 5) * windows);
    // One read of each replica for each text and notice, beside those of the streams.
    const heard = way.hears === "own" ? 1000 : 4000;
    expect(database.reads - reads).toBeLessThan(heard + 4 * (texts + 2 * windows));
    for (const agent of agents) {
      expect(agent.held).toBe(1000);
      expect(agent.notices).toBeLessThanOrEqual(windows + 4);
    }
  });
});

describe("a source that is no shared one", () => {
  it.each(["another value in each process", "another value at each read"])(
    "with %s keeps no replica busy",
    async (what) => {
      const pass = stopTime();
      const cluster = new LossyCluster();
      let reads = 0;
      const all = Array.from({ length: 4 }, (_, n) => {
        const database = new Database({ answers: "at once", hears: "own" });
        database.stock = n;
        if (what === "another value at each read")
          Object.defineProperty(database, "stock", { get: () => (reads += 1) });
        return new Replica({ cluster, database, windowMs }, n);
      });
      const agents = all.map((replica) => new Agent(replica));
      for (const agent of agents) void agent.watch();
      await pass(60_000);
      const [texts, notices] = [cluster.texts.length, agents.map((agent) => agent.notices)];
      await pass(60_000);
      // Four replicas repeat what they watch six times a minute.
      expect(cluster.texts.length - texts).toBeLessThan(4 * 6 + 4 * 4);
      for (const [n, agent] of agents.entries()) expect(agent.notices - (notices[n] ?? 0)).toBeLessThan(20);
    },
  );
});
