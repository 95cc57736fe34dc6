import { readFile, rename, writeFile } from "node:fs/promises";
import * as z from "zod";
import {
  cell,
  collection,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  polled,
  procedure,
  stdio,
} from "../../src/index.ts";

// One of several processes over one database, a file that each reads and writes as a whole.
const [path = ""] = process.argv.slice(2);
const Rows = z.array(z.string());

const load = async (signal?: AbortSignal): Promise<string[]> =>
  Rows.parse(JSON.parse(await readFile(path, { encoding: "utf8", ...(signal === undefined ? {} : { signal }) })));

const shop = defineSurface("shop", {
  count: mcpResource(cell({ schema: z.number() })),
  rows: mcpResource(collection({ key: z.number(), schema: z.string() }), { list: "items" }),
  add: mcpTool(procedure({ input: z.object({ row: z.string() }), output: z.number() })),
});

const app = mcp(shop).implement({
  count: polled(async ({ signal }) => (await load(signal)).length, { everyMs: 20 }),
  rows: {
    async list({ after = "0", limit, signal }) {
      const rows = (await load(signal)).map((row, id) => [id, row] as const);
      const start = Number(after);
      return {
        items: rows.slice(start, start + limit),
        next: start + limit < rows.length ? String(start + limit) : undefined,
      };
    },
    get: async (id, { signal }) => (await load(signal))[id],
    pollMs: 20,
  },
  async add({ row }) {
    const rows = [...(await load()), row];
    await writeFile(`${path}.new`, JSON.stringify(rows));
    await rename(`${path}.new`, path);
    return rows.length;
  },
});

await stdio().serve(app);
