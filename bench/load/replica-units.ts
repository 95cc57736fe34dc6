import { setTimeout as sleep } from "node:timers/promises";
import { envelope, eras, type Question, questions } from "../driver/requests.ts";
import { type HttpClient, openAll, openClient, openStream } from "../http/http-client.ts";
import type { HttpProcess } from "../http/http-process.ts";
import { firstId, toPost } from "../http/http-requests.ts";
import { pumpHttp } from "../http/pump-http.ts";
import { median, quantile } from "../report/statistics.ts";
import { toMarkdown } from "../report/to-markdown.ts";
import { monotonicMs } from "../tools/orders.ts";
import type { RedisMeter } from "./redis-meter.ts";
import { connectTo, resultOf, withClients } from "./replicas.ts";
import { costOf, medianCost, toCells, toText, type UnitCost, unitFigures } from "./unit-cost.ts";

const rounds = 3;
const sessionsEach = 200;
const changesEach = 40;
/** Longer than a window: each change comes after quiet. */
const quietMs = 250;
/** The time without work in which running costs are measured. */
const minutes = 0.4;
const subscriptionsEach = 5;
const watchersEach = 100;
const listens = { streams: 20, uris: 50 } as const;
const notice = Buffer.from("notifications/resources/updated");
const ping: Question = { method: "ping", params: {} };

function toCall(name: string, more: object = {}): Question {
  return { method: "tools/call", params: { name, arguments: {}, ...more } };
}

function connectOne({ port }: HttpProcess): Promise<HttpClient> {
  return openClient(port, { era: "modern", token: "user" });
}

function toSubscribe(uri: string): Question {
  return { method: "resources/subscribe", params: { uri } };
}

/** Listens on a connection to each replica. Resolves with a function that changes the counter and resolves with each delay. */
async function watchAll(replicas: readonly HttpProcess[]): Promise<() => Promise<readonly number[]>> {
  const arrivals: number[] = [];
  for (const [at, replica] of replicas.entries()) {
    await openStream(await connectOne(replica), (chunk) => {
      if (chunk.includes(notice)) arrivals[at] ??= monotonicMs();
    });
  }
  // Until each replica knows what the other one watches.
  await sleep(2_000);
  return async () => {
    arrivals.length = 0;
    replicas[0]?.server.owner.change();
    const began = performance.now();
    do await sleep(quietMs);
    while (Object.keys(arrivals).length < replicas.length && performance.now() - began < 10_000);
    const report = await replicas[0]?.server.owner.report();
    return replicas.map((_, at) => (arrivals[at] ?? Number.NaN) - (report?.times[0] ?? Number.NaN));
  };
}

/** Has one replica ask for a confirmation, and confirms on another one. */
async function confirm(first: HttpClient, second: HttpClient): Promise<void> {
  const meta = { _meta: { ...envelope, "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } } };
  const asked = await resultOf<{ requestState: string; inputRequests: object }>(first, toCall("sure", meta));
  const keys = Object.keys(asked.inputRequests);
  const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: "accept", content: {} }]));
  const again = toCall("sure", { ...meta, requestState: asked.requestState, inputResponses });
  const { isError } = await resultOf<{ isError?: boolean }>(second, again);
  if (isError === true) throw new Error("Benchmark: a confirmed call failed");
}

async function callLarge(client: HttpClient): Promise<string> {
  const { _meta: meta } = await resultOf<{ _meta: Record<string, { next: string }> }>(client, toCall("large"));
  const cut = meta["surface-mcp/truncated"];
  if (cut === undefined) throw new Error("Benchmark: a large result was not cut");
  return cut.next;
}

/** Listens to many resources on a replica. */
async function listenToMany(replica: HttpProcess): Promise<readonly HttpClient[]> {
  const clients = await connectTo([replica], "modern", listens.streams);
  for (const [stream, { connection, sender }] of clients.entries()) {
    const uris = Array.from({ length: listens.uris }, (_, at) => `surface://bench/items/${stream * listens.uris + at}`);
    const params = { notifications: { resourceSubscriptions: uris } };
    await connection.openStream(toPost({ method: "subscriptions/listen", params }, sender)(firstId));
    connection.follow(() => {});
  }
  await sleep(3_000);
  return clients;
}

async function repeat(times: number, work: (at: number) => Promise<unknown>): Promise<void> {
  for (let count = 0; count < times; count += 1) await work(count);
}

/** Sends a request of each client, 32 at a time. */
function askAll(clients: readonly HttpClient[], question: Question): Promise<unknown> {
  return openAll(clients.length, async (at) => clients[at] && resultOf(clients[at], question));
}

/** The samples of each figure of two replicas. */
class Samples {
  readonly redis: RedisMeter;
  readonly replicas: readonly [HttpProcess, HttpProcess];
  readonly costs: Map<string, UnitCost[]> = new Map();
  readonly sizes: Map<string, number[]> = new Map();
  #rest: UnitCost | undefined;

  constructor(redis: RedisMeter, replicas: readonly [HttpProcess, HttpProcess]) {
    this.redis = redis;
    this.replicas = replicas;
  }

  /**
   * Adds the cost of one of `count` operations, and resolves with the number of them in a second. The first cost is that of a second at
   * rest, and is subtracted from the others.
   */
  async cost(what: string, count: number, work: () => Promise<unknown>): Promise<number> {
    const cost = await costOf({ redis: this.redis, replicas: this.replicas, rest: this.#rest }, count, work);
    this.#rest ??= cost;
    this.costs.set(what, [...(this.costs.get(what) ?? []), cost]);
    return cost.get("per second") ?? Number.NaN;
  }

  size(what: string, value: number): void {
    this.sizes.set(what, [...(this.sizes.get(what) ?? []), value]);
  }
}

/** Measures many resources that are watched on the second replica. */
async function measureWatched(samples: Samples): Promise<void> {
  const uris = listens.streams * listens.uris;
  const heaps = (): Promise<number[]> =>
    Promise.all(samples.replicas.map(async ({ server }) => (await server.owner.memory()).heapUsed));
  const before = await heaps();
  const clients: HttpClient[] = [];
  const listen = async (): Promise<unknown> => clients.push(...(await listenToMany(samples.replicas[1])));
  await samples.cost("URI begun to be watched", uris, listen);
  const grown = (await heaps()).map((heap, at) => (heap - (before[at] ?? Number.NaN)) / uris);
  samples.size("bytes of heap of a watched URI, where it is watched", grown[1] ?? Number.NaN);
  samples.size("bytes of heap of a watched URI, in each other replica", grown[0] ?? Number.NaN);
  await samples.cost("watched URI, for a minute", uris * minutes, () => sleep(60_000 * minutes));
  for (const { connection } of clients) connection.close();
}

/** Measures changes on the first replica, of which many watchers on both are notified. */
async function measureNotices(samples: Samples): Promise<void> {
  const { replicas } = samples;
  const clients = await connectTo(replicas, "modern", watchersEach * replicas.length);
  let notices = 0;
  for (const client of clients) await openStream(client, (chunk) => void (notices += Number(chunk.includes(notice))));
  await sleep(quietMs);
  const expected = changesEach * clients.length;
  await samples.cost(`notification, with ${watchersEach} watchers on each replica`, expected, () =>
    repeat(changesEach, async (at) => {
      replicas[0].server.owner.change();
      const began = performance.now();
      do await sleep(quietMs);
      while (notices < (at + 1) * clients.length && performance.now() - began < 10_000);
    }),
  );
  if (notices !== expected) throw new Error(`Benchmark: ${notices} of ${expected} notifications arrived`);
  for (const { connection } of clients) connection.close();
  // The next report has the times of later changes only.
  await replicas[0].server.owner.report();
}

/** Measures sessions that are opened on the first replica, and adopted by the second. */
async function measureSessions(samples: Samples, prefix: string): Promise<void> {
  const { redis, replicas } = samples;
  const before = await redis.memory(prefix);
  const sessions: HttpClient[] = [];
  const open = async (): Promise<unknown> => sessions.push(...(await connectTo([replicas[0]], "legacy", sessionsEach)));
  await samples.cost("session opened", sessionsEach, open);
  const opened = await redis.memory(prefix);
  samples.size("bytes in Redis of a session", (opened - before) / sessionsEach);
  await samples.cost("subscription of a session", sessionsEach * subscriptionsEach, () =>
    repeat(subscriptionsEach, (at) => askAll(sessions, toSubscribe(`surface://bench/items/${at}`))),
  );
  const subscribed = await redis.memory(prefix);
  samples.size("bytes in Redis of a subscribed URI", (subscribed - opened) / sessionsEach / subscriptionsEach);
  const others = await connectTo([replicas[1]], "modern", sessionsEach);
  const moved = sessions.map((client, at) => ({ ...client, connection: others[at]?.connection ?? client.connection }));
  const adopted = await samples.cost("session adopted by the other replica", sessionsEach, () => askAll(moved, ping));
  samples.size("sessions adopted a second", adopted);
  for (const { connection } of [...sessions, ...others]) connection.close();
}

/** Measures what modern requests take beside a call. */
async function measureRequests(samples: Samples): Promise<void> {
  const [first, second] = [await connectOne(samples.replicas[0]), await connectOne(samples.replicas[1])];
  const parts: string[] = [];
  await samples.cost("confirmed call", 100, () => repeat(100, () => confirm(first, second)));
  await samples.cost("result of 300 kB, given again", 20, () =>
    repeat(20, async () => parts.push(await callLarge(first))),
  );
  const readPart = (): Promise<unknown> => resultOf(second, { method: "resources/read", params: { uri: parts.pop() } });
  await samples.cost("part of it, 64 KB, on the other replica", 20, () => repeat(20, readPart));
  for (const { connection } of [first, second]) connection.close();
}

/** Measures each kind of work of two replicas under a prefix. Returns tables. */
export async function measureUnits(redis: RedisMeter, all: readonly HttpProcess[], prefix: string): Promise<string> {
  const [first, second] = all;
  if (first === undefined || second === undefined) throw new Error("Benchmark: there are fewer than two replicas");
  const samples = new Samples(redis, [first, second]);
  const change = await watchAll(all);
  await repeat(5, change);
  await samples.cost("second at rest", 20, () => sleep(20_000));
  await measureWatched(samples);
  for (const era of eras) await withClients(all, era, (clients) => pumpHttp(clients, questions.echo, 4_000));
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`two replicas: what each kind of work takes, round ${round} of ${rounds}\n`);
    for (const era of eras)
      await withClients(all, era, (clients) =>
        samples.cost(era === "modern" ? "call" : "call in a session", 2_000, () =>
          pumpHttp(clients, questions.echo, 2_000),
        ),
      );
    await samples.cost("change, with a watcher on each replica", changesEach, () =>
      repeat(changesEach, async () => {
        const [here = Number.NaN, elsewhere = Number.NaN] = await change();
        samples.size("ms from a change to a watcher on its replica", here);
        samples.size("ms from a change to a watcher on the other replica", elsewhere);
      }),
    );
    await measureNotices(samples);
    await measureRequests(samples);
    await measureSessions(samples, prefix);
  }
  const costRows = [...samples.costs].map(([what, costs]) => toCells(what, medianCost(costs)));
  const sizeRows = [...samples.sizes].map(([what, sizes]) => [
    what,
    toText(median(sizes)),
    toText(quantile(sizes, 0.99)),
  ]);
  return [
    toMarkdown(["one", "commands of Redis", ...unitFigures], costRows),
    toMarkdown(["figure", "median", "p99"], sizeRows),
  ].join("\n\n");
}
