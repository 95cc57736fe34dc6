import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { RedisServer, Replicas } from "../../examples/cluster/start.ts";
import { createRandom, type Random } from "../attack/random.ts";
import { ChaosClient, type Load } from "./chaos-client.ts";
import { ChaosWatcher } from "./chaos-watcher.ts";
import { disturbances, quiet, type Disturbed } from "./disturbances.ts";
import { judgeMutations, judgeValues, type Violation } from "./judge.ts";
import { probeAdoption, probeTheft, type Seen } from "./probe.ts";

/** Options of a run. */
export interface ClusterChaosOptions {
  readonly kills: number;
  readonly seed: number;
  /** Clients of the SDKs, which call, read and watch. @default 20 */
  readonly clients?: number;
  /** Clients that only watch. @default as many as the others */
  readonly watchers?: number;
  readonly onKill?: (kills: number, deliveries: number) => void;
}

/** Result of a run: it ends with the first round that breaks a promise. */
export interface ClusterChaosOutcome {
  readonly kills: number;
  readonly disturbed: ReadonlyMap<string, number>;
  readonly probes: number;
  readonly ledger: readonly string[];
  readonly clients: readonly ChaosClient[];
  readonly watchers: readonly ChaosWatcher[];
  readonly violations: readonly Violation[];
}

const killsPerRound = 8;
/** Milliseconds after which a value counts as never announced. */
const staleAfterMs = 30_000;

/** Waits until something is so, or will not be. */
async function waitFor(isSo: () => boolean): Promise<void> {
  const until = performance.now() + staleAfterMs;
  while (!isSo() && performance.now() < until) await pause(20);
}

const uris = ["surface://ledger/count", "surface://ledger/entries"] as const;
/** Even if one replica serves all of them, their streams are below the limit of a principal. */
const clientsPerUser = 10;

/** Returns what identifies the client of a number: each user watches one resource, and each resource is watched by both generations. */
function toIdentity(url: string, kind: string, at: number) {
  const half = at % 4 < 2 ? 0 : 1;
  const user = `${["ada", "bob"][half]}-${kind}-${Math.floor(at / 2 / clientsPerUser)}`;
  const isLegacy = at % 2 === 0;
  return { url, name: `${user}-${isLegacy ? "legacy" : "modern"}-${at}`, user, isLegacy, uri: uris[half] };
}

function toSeen({ options: { user }, sessionId = "", eventId }: ChaosClient): Seen {
  return { user, sessionId, eventId };
}

/** Replicas, clients and Redis of one run. Call `close()` when done. */
class Run {
  readonly disturbed = new Map<string, number>();
  readonly clients: readonly ChaosClient[];
  readonly watchers: readonly ChaosWatcher[];
  readonly ledger: string[] = [];
  readonly random: Random;
  readonly #options: ClusterChaosOptions;
  readonly #server: RedisServer;
  readonly #store: Redis;
  readonly #replicas: Replicas;
  kills = 0;
  probes = 0;
  /** Sessions that began earlier may be lost. */
  #emptiedAt = 0;

  private constructor(server: RedisServer, replicas: Replicas, options: ClusterChaosOptions) {
    const { seed, clients = 20, watchers = clients } = options;
    this.#options = options;
    this.#server = server;
    this.#store = new Redis({ path: server.socket });
    this.#store.on("error", () => {}); // Killed on purpose.
    this.#replicas = replicas;
    this.random = createRandom(seed);
    this.clients = Array.from({ length: clients }, (_, at) => {
      const identity = toIdentity(replicas.url, "works", at);
      return new ChaosClient({ ...identity, total: 30 + at, restMs: 10 * clients });
    });
    this.watchers = Array.from(
      { length: watchers },
      (_, at) => new ChaosWatcher(toIdentity(replicas.url, "watches", at)),
    );
  }

  /** All that watch. */
  get everyone(): readonly (ChaosClient | ChaosWatcher)[] {
    return [...this.clients, ...this.watchers];
  }

  static async start(options: ClusterChaosOptions): Promise<Run> {
    const server = await RedisServer.start();
    if (server === undefined) throw new Error("Cannot start Redis: redis-server is not installed; install it");
    return new Run(server, await Replicas.start(server.socket, 3), options);
  }

  async connect(): Promise<void> {
    await Promise.all(this.everyone.map((client) => client.connect()));
  }

  /** Kills replicas under load, disturbs Redis once, and judges what all clients know when everything is quiet. */
  async round(at: number, kills: number): Promise<readonly Violation[]> {
    const { clients, random } = this;
    const load: Load = { isOver: false, isReadOnly: false };
    const working = clients.map((client) => client.work(load, random));
    const [name, disturb] = disturbances[at % disturbances.length] ?? quiet;
    this.disturbed.set(name, (this.disturbed.get(name) ?? 0) + 1);
    const parts: Disturbed = { clients, load, random, server: this.#server, store: this.#store };
    const disturbing = pause(random.below(2000)).then(() => disturb(parts));
    await Promise.all([disturbing, this.#killSome(kills)]);
    if (/removed|empty/.test(name)) this.#emptiedAt = performance.now();
    const probed = await this.#probe();
    await pause(1000);
    load.isOver = true;
    await Promise.all(working);
    return [...probed, ...(await this.#judge())];
  }

  async close(): Promise<void> {
    await Promise.all(this.everyone.map((client) => client.close()));
    await this.#replicas.close();
    this.#store.disconnect();
    await this.#server.close();
  }

  async #killSome(kills: number): Promise<void> {
    for (let killed = 0; killed < kills; killed += 1) {
      await pause(100 + this.random.below(500));
      await this.#kill();
      this.#options.onKill?.(
        this.kills,
        this.everyone.reduce((sum, { deliveries }) => sum + deliveries, 0),
      );
    }
  }

  async #kill(): Promise<void> {
    const { random } = this;
    const starting = this.#replicas.add();
    // The next one listens before or after the kill.
    if (random.below(2) === 0) await starting;
    await this.#replicas.kill(random.pick(this.#replicas.running));
    this.kills += 1;
    await starting;
  }

  /** Lets each principal try to take a session of the other. */
  async #probe(): Promise<readonly Violation[]> {
    const violations: Violation[] = [];
    const ports = this.#replicas.running.map(({ port }) => port);
    const inSession = this.clients.filter(({ sessionId }) => sessionId !== undefined);
    const one = this.random.pick(inSession);
    const other = this.random.pick(inSession.filter(({ options: { user } }) => user !== one.options.user));
    const [ada, bob] = [toSeen(one), toSeen(other)];
    for (const [victim, thief] of [[ada, bob] as const, [bob, ada] as const]) {
      for (const probed of [
        await probeTheft(ports, victim, thief),
        await probeAdoption(ports, victim.user, thief.user),
      ]) {
        this.probes += probed.probes;
        violations.push(...probed.violations);
      }
    }
    return violations;
  }

  async #judge(): Promise<readonly Violation[]> {
    const { clients, everyone, ledger } = this;
    const values = [...(await this.#judgeValues())];
    const unnotified = await this.#mark();
    values.push(...(await this.#judgeValues()));
    // Each replica is asked by each session.
    for (let replica = 0; replica < 3; replica += 1) await Promise.all(clients.map((client) => client.read()));
    const lost = everyone.flatMap(({ lostSessions }) => lostSessions).filter((since) => since > this.#emptiedAt);
    return [
      ...judgeMutations(
        clients.flatMap(({ mutations }) => mutations),
        ledger,
      ),
      ...values,
      ...unnotified.map(
        (name) => ({ check: "unnotified", text: `${name} was not notified of the last entry` }) as const,
      ),
      ...lost.map(() => ({ check: "session", text: "a session was lost" }) as const),
      ...everyone.flatMap(({ foreign }) => foreign.map((text) => ({ check: "foreign", text }) as const)),
    ];
  }

  /** Adds one entry while no client reads. Returns the clients that are not notified of it. */
  async #mark(): Promise<readonly string[]> {
    const { clients, everyone } = this;
    await waitFor(() => clients.every(({ isStale }) => !isStale));
    for (const one of everyone) one.hold();
    while (!(await this.random.pick(clients).mark())) await pause(50);
    await waitFor(() => everyone.every(({ isStale }) => isStale));
    const unnotified = everyone.filter(({ isStale }) => !isStale).map(({ options: { name } }) => name);
    for (const client of clients) client.release();
    return unnotified;
  }

  /** Reads the new entries when no more are added. */
  async #readLedger(): Promise<void> {
    for (let before = -1; before !== this.ledger.length; await pause(500)) {
      before = this.ledger.length;
      const texts = await this.#store.lrange("ledger", before, -1);
      this.ledger.push(...texts.map((text) => String((JSON.parse(text) as { id: unknown }).id)));
    }
  }

  /** Waits until each client has read the last value because it was notified, or will not. An import may still run meanwhile. */
  async #judgeValues(): Promise<readonly Violation[]> {
    const until = performance.now() + staleAfterMs;
    for (;;) {
      await this.#readLedger();
      const last = this.ledger.slice(-10).map((id) => ({ id, text: id }));
      const expected = [String(this.ledger.length), JSON.stringify(last)];
      const values = this.clients.map(({ options: { name, uri }, value = "null" }) => {
        return { name, value: JSON.stringify(JSON.parse(value)), expected: expected[uri === uris[0] ? 0 : 1] ?? "" };
      });
      const violations = judgeValues(values);
      if (violations.length === 0 || performance.now() > until) return violations;
    }
  }
}

/** Runs replicas under load, and kills them. */
export async function runClusterChaos(options: ClusterChaosOptions): Promise<ClusterChaosOutcome> {
  const { kills, seed } = options;
  const run = await Run.start(options);
  let violations: readonly Violation[] = [];
  try {
    await run.connect();
    for (let round = seed; run.kills < kills && violations.length === 0; round += 1) {
      violations = await run.round(round, Math.min(killsPerRound, kills - run.kills));
    }
  } finally {
    await run.close();
  }
  const { clients, watchers, disturbed, ledger, probes } = run;
  return { clients, watchers, disturbed, ledger, probes, kills: run.kills, violations };
}
