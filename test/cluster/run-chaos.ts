import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { RedisServer, Replicas } from "../../examples/cluster/start.ts";
import { createRandom, type Random } from "../attack/random.ts";
import { ChaosClient, type Load } from "./chaos-client.ts";
import { disturbances, quiet, type Disturbed } from "./disturbances.ts";
import { judgeMutations, judgeValues, type Violation } from "./judge.ts";
import { probeAdoption, probeTheft, type Seen } from "./probe.ts";

/** Options of a run. */
export interface ClusterChaosOptions {
  readonly kills: number;
  readonly seed: number;
  /** @default 20 */
  readonly clients?: number;
  readonly onKill?: (kills: number) => void;
}

/** Result of a run: it ends with the first round that breaks a promise. */
export interface ClusterChaosOutcome {
  readonly kills: number;
  readonly disturbed: ReadonlyMap<string, number>;
  readonly probes: number;
  readonly ledger: readonly string[];
  readonly clients: readonly ChaosClient[];
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

const uris = { ada: "surface://ledger/count", bob: "surface://ledger/entries" };

/** Replicas, clients and Redis of one run. Call `close()` when done. */
class Run {
  readonly disturbed = new Map<string, number>();
  readonly clients: readonly ChaosClient[];
  readonly ledger: string[] = [];
  readonly random: Random;
  readonly #server: RedisServer;
  readonly #store: Redis;
  readonly #replicas: Replicas;
  kills = 0;
  probes = 0;
  /** Sessions that began earlier may be lost. */
  #emptiedAt = 0;

  private constructor(server: RedisServer, replicas: Replicas, { seed, clients = 20 }: ClusterChaosOptions) {
    this.#server = server;
    this.#store = new Redis({ path: server.socket });
    this.#store.on("error", () => {}); // Killed on purpose.
    this.#replicas = replicas;
    this.random = createRandom(seed);
    this.clients = Array.from({ length: clients }, (_, at) => {
      const user = at % 4 < 2 ? "ada" : "bob";
      const isLegacy = at % 2 === 0;
      const name = `${user}-${isLegacy ? "legacy" : "modern"}-${at}`;
      return new ChaosClient({ url: replicas.url, name, user, isLegacy, total: 30 + at, uri: uris[user] });
    });
  }

  static async start(options: ClusterChaosOptions): Promise<Run> {
    const server = await RedisServer.start();
    if (server === undefined) throw new Error("Cannot start Redis: redis-server is not installed; install it");
    return new Run(server, await Replicas.start(server.socket, 3), options);
  }

  async connect(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.connect()));
  }

  /** Kills replicas under load, disturbs Redis once, and judges what all clients know when everything is quiet. */
  async round(at: number, kills: number, onKill: (kills: number) => void): Promise<readonly Violation[]> {
    const { clients, random } = this;
    const load: Load = { isOver: false, isReadOnly: false };
    const working = clients.map((client) => client.work(load, random));
    const [name, disturb] = disturbances[at % disturbances.length] ?? quiet;
    this.disturbed.set(name, (this.disturbed.get(name) ?? 0) + 1);
    const parts: Disturbed = { clients, load, random, server: this.#server, store: this.#store };
    const disturbing = pause(random.below(2000)).then(() => disturb(parts));
    await Promise.all([disturbing, this.#killSome(kills, onKill)]);
    if (/removed|empty/.test(name)) this.#emptiedAt = performance.now();
    const probed = await this.#probe();
    await pause(1000);
    load.isOver = true;
    await Promise.all(working);
    return [...probed, ...(await this.#judge())];
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
    await this.#replicas.close();
    this.#store.disconnect();
    await this.#server.close();
  }

  async #killSome(kills: number, onKill: (kills: number) => void): Promise<void> {
    for (let killed = 0; killed < kills; killed += 1) {
      await pause(100 + this.random.below(500));
      await this.#kill();
      onKill(this.kills);
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
    const seen = (user: string): Seen => {
      const sessions = this.clients.filter(
        ({ options, sessionId }) => options.user === user && sessionId !== undefined,
      );
      const { sessionId = "", eventId } = this.random.pick(sessions);
      return { user, sessionId, eventId };
    };
    const [ada, bob] = [seen("ada"), seen("bob")];
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
    const { clients, ledger } = this;
    await this.#readLedger();
    const values = await this.#values();
    const unnotified = await this.#mark();
    await this.#readLedger();
    values.push(...(await this.#values()));
    // Each replica is asked by each session.
    for (let replica = 0; replica < 3; replica += 1) await Promise.all(clients.map((client) => client.read()));
    const lost = clients.flatMap(({ lostSessions }) => lostSessions).filter((since) => since > this.#emptiedAt);
    return [
      ...judgeMutations(
        clients.flatMap(({ mutations }) => mutations),
        ledger,
      ),
      ...judgeValues(values),
      ...unnotified.map(
        (name) => ({ check: "unnotified", text: `${name} was not notified of the last entry` }) as const,
      ),
      ...lost.map(() => ({ check: "session", text: "a session was lost" }) as const),
      ...clients.flatMap(({ foreign }) => foreign.map((text) => ({ check: "foreign", text }) as const)),
    ];
  }

  /** Adds one entry while no client reads. Returns the clients that are not notified of it. */
  async #mark(): Promise<readonly string[]> {
    const { clients } = this;
    for (const client of clients) client.hold();
    while (!(await this.random.pick(clients).mark())) await pause(50);
    await waitFor(() => clients.every(({ isStale }) => isStale));
    const unnotified = clients.filter(({ isStale }) => !isStale).map(({ options: { name } }) => name);
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

  /** Waits until each client has read the last value because it was notified, or will not. */
  async #values() {
    const last = this.ledger.slice(-10).map((id) => ({ id, text: id }));
    const expected = { [uris.ada]: String(this.ledger.length), [uris.bob]: JSON.stringify(last) };
    const values = () =>
      this.clients.map(({ options: { name, uri }, value = "null" }) => {
        return { name, value: JSON.stringify(JSON.parse(value)), expected: expected[uri] ?? "" };
      });
    await waitFor(() => judgeValues(values()).length === 0);
    return values();
  }
}

/** Runs replicas under load, and kills them. */
export async function runClusterChaos(options: ClusterChaosOptions): Promise<ClusterChaosOutcome> {
  const { kills, seed, onKill = () => {} } = options;
  const run = await Run.start(options);
  let violations: readonly Violation[] = [];
  try {
    await run.connect();
    for (let round = seed; run.kills < kills && violations.length === 0; round += 1) {
      violations = await run.round(round, Math.min(killsPerRound, kills - run.kills), onKill);
    }
  } finally {
    await run.close();
  }
  const { clients, disturbed, ledger, probes } = run;
  return { clients, disturbed, ledger, probes, kills: run.kills, violations };
}
