import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { RedisServer, startReplica, type Replica } from "../../examples/cluster/start.ts";
import { callOf, get, initialize, post, until, type Reading } from "../http/cluster/replicas.ts";
import { hasRedis, whyNoRedis } from "./redis-server.ts";

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

const token = "ada";
const entries = (count: number): object =>
  Array.from({ length: count }, (_, at) => ({ id: String(at), text: `entry ${at}` }));

async function start(): Promise<{ server: RedisServer; a: Target; b: Target }> {
  const server = await RedisServer.start();
  if (server === undefined) throw new Error("redis-server is not installed");
  ends.push(() => server.close());
  const [a, b] = await Promise.all([startReplica(server.socket), startReplica(server.socket)]);
  ends.push(() => [a, b].map(({ process }) => process.kill("SIGKILL")));
  return { server, a: new Target(a), b: new Target(b) };
}

class Target {
  readonly url: string;
  readonly process: Replica["process"];

  constructor({ port, process }: Replica) {
    this.url = `http://127.0.0.1:${port}/mcp`;
    this.process = process;
  }
}

/** Begins a call that reports its progress, and takes some seconds. */
async function beginImport(replica: Target, session: string): Promise<Reading> {
  const args = { entries: entries(4), pauseMs: 1000 };
  const reading = await post(replica, callOf("i", "entry_import", args), { session, token });
  await until(() => reading.messages.length > 0);
  return reading;
}

const resultsOf = ({ messages }: Reading): readonly unknown[] => messages.filter(({ id }) => id === "i");

describe.runIf(hasRedis)(`a replica that was away${whyNoRedis}`, () => {
  it("gives no second answer when it was stopped for longer than its lease", async () => {
    const { a, b } = await start();
    const session = await initialize(a, token);
    const importing = await beginImport(a, session);
    a.process.kill("SIGSTOP");
    ends.push(() => a.process.kill("SIGCONT"));
    const resumed = await get(b, { session, token, lastId: importing.lastId });
    await resumed.over();
    expect(JSON.stringify(resultsOf(resumed))).toContain("OUTCOME_UNKNOWN");
    a.process.kill("SIGCONT");
    await importing.over();
    expect(resultsOf(importing)).toEqual([]);
    // The call goes on to its end.
    await pause(5000);
    for (const replica of [a, b]) {
      const again = await get(replica, { session, token, lastId: importing.lastId });
      await again.over();
      expect(again.events).toEqual(resumed.events);
    }
  });

  it("answers its own clients when Redis was away for longer than its lease", async () => {
    const { a, server } = await start();
    const session = await initialize(a, token);
    const args = { entries: [], pauseMs: 0 };
    await post(a, callOf("i", "entry_import", args), { session, token });
    await server.kill();
    await pause(12_000);
    const answered = await post(a, callOf("i", "entry_import", args), { session, token });
    await answered.over();
    expect(resultsOf(answered)).toHaveLength(1);
  });
});
