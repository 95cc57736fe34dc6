import * as z from "zod";
import { cellSource, collection, defineSurface, mcp, mcpResource, mcpTool, procedure, stdio } from "../../src/index.ts";

// Collections whose items are listed, are not, and are nobody's business; and a tool that changes any of them.
const items = { key: z.string(), schema: z.object({ weight: z.number() }) };
const depot = defineSurface("depot", {
  crates: mcpResource(collection(items), { listItems: true }),
  plain: mcpResource(collection(items)),
  hidden: collection(items),
  put: mcpTool(
    procedure({
      input: z.object({ into: z.enum(["crates", "plain", "hidden"]), keys: z.array(z.string()), weight: z.number() }),
      output: z.int(),
    }),
  ),
});

type Items = ReadonlyMap<string, { readonly weight: number }>;
const first: Items = new Map([["a", { weight: 1 }]]);
const sources = { crates: cellSource(first), plain: cellSource(first), hidden: cellSource(first) };

const app = mcp(depot, { uriPrefix: "depot://" }).implement({
  ...sources,
  put: ({ into, keys, weight }) => {
    sources[into].set(new Map(keys.map((key) => [key, { weight }])));
    return keys.length;
  },
});

await stdio().serve(app);
