import type { Redis } from "ioredis";
import { cell, defineSurface, mcp, mcpResource, mcpTool, procedure } from "surface-mcp";
import { z } from "zod";

const Entry = z.object({ id: z.string(), text: z.string() });

const ledger = defineSurface("ledger", {
  entries: mcpResource(cell({ schema: z.array(Entry), description: "The last ten entries, oldest first" })),
  count: mcpResource(cell({ schema: z.number(), description: "Number of entries" })),
  "entry.add": mcpTool(
    procedure({ description: "Add an entry", input: Entry, output: z.object({ count: z.number() }) }),
  ),
  "entry.import": mcpTool(
    procedure({
      description: "Add many entries, one after the other",
      input: z.object({ entries: z.array(Entry).max(1000), pauseMs: z.number().max(1000).default(0) }),
      output: z.object({ count: z.number() }),
      progress: z.object({ progress: z.number(), total: z.number() }),
    }),
  ),
});

const key = "ledger";
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Creates the app of one replica. Its state is in Redis; a change is announced in this process only, and the cluster tells the others. */
export function createApp(redis: Redis) {
  const changed = new Set<() => void>();
  const source = <TValue>(get: () => Promise<TValue>) => ({
    get,
    subscribe(listener: () => void) {
      changed.add(listener);
      return () => changed.delete(listener);
    },
  });
  const add = async (entry: z.infer<typeof Entry>): Promise<number> => {
    const count = await redis.rpush(key, JSON.stringify({ ...entry, by: process.pid }));
    for (const listener of changed) listener();
    return count;
  };
  return mcp(ledger).implement({
    entries: source(async () => (await redis.lrange(key, -10, -1)).map((text) => Entry.parse(JSON.parse(text)))),
    count: source(() => redis.llen(key)),
    "entry.add": async (entry) => ({ count: await add(entry) }),
    async *"entry.import"({ entries, pauseMs }) {
      let count = 0;
      for (const [index, entry] of entries.entries()) {
        count = await add(entry);
        yield { progress: index + 1, total: entries.length };
        await pause(pauseMs);
      }
      return { count };
    },
  });
}
