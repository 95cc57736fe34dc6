import { queries, wanted } from "../gateway/create-operations.ts";
import { openGateway, type OpenGateway } from "../gateway/open-gateway.ts";
import { quantile } from "../report/statistics.ts";
import type { Pair, Sample } from "./sample.ts";

const counts = [100, 1_000, 10_000];
const calls = 2_000;

/** What the design allows, in milliseconds. */
const searchMs = 5;
const viewMs = 0.2;

const id = `hub.${wanted.name}`;
const wireName = id.replaceAll(/\W/g, "_");

async function timesOf(count: number, work: (round: number) => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < count; round += 1) {
    const began = performance.now();
    await work(round);
    times.push(performance.now() - began);
  }
  return times;
}

async function measureCalls({ direct, narrowed, gateway }: OpenGateway): Promise<Record<string, Pair>> {
  const input = { ...wanted.input };
  const ways = {
    direct: () => direct.call(wireName, input),
    narrowed: () => narrowed.call(wireName, input),
    gateway: () => gateway.call("call", { calls: [{ tool: id, input }] }),
  };
  for (const way of Object.values(ways)) await timesOf(calls, way);
  const plain = await timesOf(calls, ways.direct);
  const viewed = await timesOf(calls, ways.narrowed);
  const hub = await timesOf(calls, ways.gateway);
  return {
    "gateway: call p50, µs": { ours: quantile(hub, 0.5) * 1_000, base: quantile(plain, 0.5) * 1_000 },
    "gateway: call p99, µs": { ours: quantile(hub, 0.99) * 1_000, base: quantile(plain, 0.99) * 1_000 },
    "view: call p50, µs": { ours: quantile(viewed, 0.5) * 1_000, base: quantile(plain, 0.5) * 1_000 },
    "view: call p99, and 0.2 ms, µs": {
      ours: quantile(viewed, 0.99) * 1_000,
      base: (quantile(plain, 0.99) + viewMs) * 1_000,
    },
  };
}

async function measureSearch({ gateway }: OpenGateway): Promise<Record<string, Pair>> {
  const search = (round: number): Promise<string> =>
    gateway.call("search", { q: queries[round % queries.length] ?? "" });
  const [first = Number.NaN] = await timesOf(1, search);
  // The index was made for the first one, which is told apart; the others are warmed up as calls are.
  await timesOf(queries.length, search);
  const times = await timesOf(queries.length * 10, search);
  return {
    "gateway: first search, ms": { ours: first, base: searchMs },
    "gateway: search p50, ms": { ours: quantile(times, 0.5), base: searchMs },
    "gateway: search p99, ms": { ours: quantile(times, 0.99), base: searchMs },
  };
}

/** One round of searches and calls in this process: behind a gateway and a view, against the same without them. */
export async function measureGateway(): Promise<Sample> {
  const sample = new Map<string, Pair>();
  for (const count of counts) {
    const opened = openGateway(count);
    try {
      const found = { ...(await measureSearch(opened)), ...(await measureCalls(opened)) };
      for (const [figure, pair] of Object.entries(found)) {
        sample.set(`${figure} (${count.toLocaleString("en-US")})`, pair);
      }
    } finally {
      await opened.close();
    }
  }
  return sample;
}
