/**
 * One replica for `npm run load -- --replicas`: `--redis PATH [--prefix NAME] [--unlimited]`. Without a prefix it is in no cluster. Callers
 * have tokens. Its counter is in Redis, and announces only the changes of its own process. It obeys its driver, and ends with its input.
 */
import { parseArgs } from "node:util";
import { Redis } from "ioredis";
import { z } from "zod";
import { bearer, http } from "../src/http/index.ts";
import { cell, collection, defineSurface, mcp, mcpResource, mcpTool, procedure, readOnly } from "../src/index.ts";
import { redis } from "../src/redis/index.ts";
import { obeyDriver } from "./tools/obey-driver.ts";
import { echoShape } from "./tools/tool-schemas.ts";

const { values } = parseArgs({
  options: { redis: { type: "string" }, prefix: { type: "string" }, unlimited: { type: "boolean", default: false } },
});

const bench = defineSurface("bench", {
  counter: mcpResource(cell({ schema: z.int() })),
  items: mcpResource(collection({ key: z.number(), schema: z.number() })),
  echo: readOnly(mcpTool(procedure({ input: echoShape, output: echoShape }))),
  sure: mcpTool(procedure({}), { confirm: true }),
});

const client = new Redis({ path: values.redis ?? "" });
const items = new Map(Array.from({ length: 1_000 }, (_, index) => [index, index]));
const listeners = new Set<() => void>();

async function change(): Promise<void> {
  await client.incr("counter");
  for (const changed of listeners) changed();
}

const app = mcp(bench)
  .implement({
    counter: {
      get: async () => Number(await client.get("counter")),
      subscribe(changed) {
        const listener = (): void => changed();
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    items: { get: () => items, subscribe: () => () => {} },
    echo: ({ text }) => ({ text }),
    sure: () => undefined,
  })
  // 300 kB: over the bound of a result.
  .tools({ large: { mutates: false, handler: () => "word ".repeat(60_000) } });

const resource = "http://127.0.0.1/mcp";
const many = 1_000_000;
const serving = await app.serve(
  http({
    auth: bearer({
      resource,
      verify: async (token) => ({ id: token, scopes: ["bench:read", "bench:write"], resource }),
    }),
    rateLimit: values.unlimited ? false : { perMinute: 100 * many, burst: many },
    maxSessions: many,
    maxSessionsPerPrincipal: many,
    maxStreams: many,
    maxStreamsPerPrincipal: many,
    exit: false,
    drainMs: 0,
    ...(values.prefix !== undefined && { cluster: redis(client, { prefix: values.prefix }) }),
  }),
);
process.stdin.resume().once("end", () => void serving.close().then(() => client.disconnect()));
obeyDriver(() => {
  void change();
  return 0;
}, serving);
