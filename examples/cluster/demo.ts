/** `npm run demo:cluster`: three replicas behind a proxy; one is killed while two clients work. */
import assert from "node:assert/strict";
import { Redis } from "ioredis";
import { z } from "zod";
import { connectLegacy, connectModern, type LedgerClient } from "./client.ts";
import { RedisServer, Replicas } from "./start.ts";

const Stored = z.object({ id: z.string(), by: z.number() });

/** What became of some calls: the number that were answered, and the entries of the others. */
interface Account {
  answered: number;
  readonly lost: string[];
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for something that the clients or replicas do. */
async function until(isSo: () => boolean, what: string): Promise<void> {
  for (let waitedMs = 0; !isSo(); waitedMs += 10) {
    if (waitedMs > 30_000) throw new Error(`${what} did not happen in time`);
    await pause(10);
  }
}

async function readEntries(store: Redis): Promise<readonly z.infer<typeof Stored>[]> {
  return (await store.lrange("ledger", 0, -1)).map((text) => Stored.parse(JSON.parse(text)));
}

/** Adds entries, one after the other. A call whose answer was lost is not repeated. */
async function work(client: LedgerClient, name: string, calls: number): Promise<Account> {
  const account: Account = { answered: 0, lost: [] };
  for (let index = 0; index < calls; index += 1) {
    const id = `${name}-${index}`;
    await client.add(id).then(
      () => (account.answered += 1),
      () => account.lost.push(id),
    );
  }
  return account;
}

/** Kills the replica that runs an import, while both clients work. Returns the ids of all entries. */
async function killOne(store: Redis, replicas: Replicas, [modern, legacy]: Clients): Promise<readonly string[]> {
  let steps = 0;
  const ids = Array.from({ length: 100 }, (_, index) => `import-${index}`);
  const importing = legacy.import(ids, () => void (steps += 1)).catch((error: unknown) => error);
  const working = [work(modern, "ada", 200), work(legacy, "bob", 200)] as const;
  await until(() => steps >= 20, "The import");
  const { by } = (await readEntries(store)).find(({ id }) => id === "import-0") ?? {};
  const victim = replicas.running.find(({ process: { pid } }) => pid === by);
  assert(victim !== undefined);
  await replicas.kill(victim);
  console.log("Amid 400 calls, the replica that runs an import of Bob's is killed (SIGKILL).");

  const told = await importing;
  assert(told instanceof Error && told.message.includes("OUTCOME_UNKNOWN"));
  const accounts = await Promise.all(working);
  const entries = (await readEntries(store)).map(({ id }) => id);
  const imported = entries.filter((id) => id.startsWith("import-")).length;
  console.log("  Bob's client resumes the import at another replica, and is told OUTCOME_UNKNOWN.");
  console.log(`  ${imported} of its 100 entries were added. The client does not send the import again.`);
  for (const [at, { answered, lost }] of accounts.entries()) {
    const added = lost.filter((id) => entries.includes(id)).length;
    const rest = lost.length === 0 ? "" : `; lost answers: ${lost.length}, calls of these that had run: ${added}`;
    console.log(`  ${["Ada", "Bob"][at]}: ${answered} of 200 calls were answered${rest}.`);
  }
  return entries;
}

type Clients = readonly [LedgerClient, LedgerClient];

async function show(server: RedisServer, replicas: Replicas): Promise<void> {
  const store = new Redis({ path: server.socket });
  const clients = [await connectModern(replicas.url, "ada"), await connectLegacy(replicas.url, "bob")] as const;
  console.log(
    "Ada's client speaks 2026-07-28. Bob's speaks 2025-11-25, and has a session. Both watch the number of entries.\n",
  );
  const entries = await killOne(store, replicas, clients);
  assert.equal(new Set(entries).size, entries.length);
  console.log(`  The ledger has ${entries.length} entries, and none twice.`);

  const before = clients.map(({ updates }) => updates);
  await clients[0].add("last");
  await until(() => clients.every(({ updates }, at) => updates > (before[at] ?? 0)), "A notification");
  for (const client of clients) assert.equal(await client.count(), entries.length + 1);
  console.log("\nThen Ada adds one more. Both are notified by the replicas that are left, and read the new number.");
  await Promise.all(clients.map((client) => client.close()));
  store.disconnect();
}

const began = performance.now();
const server = await RedisServer.start();
if (server === undefined) {
  console.error(
    "Cannot start Redis: redis-server is not installed; install it, on Debian by: apt-get install redis-server",
  );
  process.exitCode = 1;
} else {
  const replicas = await Replicas.start(server.socket, 3);
  console.log("Redis, three replicas of one app, and a round-robin proxy in front of them.");
  try {
    await show(server, replicas);
  } finally {
    await replicas.close();
    await server.close();
  }
  console.log(`\n${((performance.now() - began) / 1000).toFixed(1)} s. Everything has ended.`);
}
