import type { CallNode } from "surface-mcp";
import { z } from "zod";

import { assertPromised, wordsOf, type Scene } from "./scene.ts";
import { toSight } from "./show-direct.ts";
import { toCallTree } from "./to-call-tree.ts";
import type { Reply } from "./visitor.ts";

const Listed = z.object({ total: z.number() });
const Found = z.object({ tools: z.array(z.object({ tool: z.string() })), total: z.number() });
const Schemas = z.object({ inputSchema: z.object({ properties: z.record(z.string(), z.unknown()) }) });
const Entry = z.object({ success: z.boolean(), error: z.object({ code: z.string() }).optional() });
const Batch = z.object({ results: z.array(Entry) });

/** Of what it finds by searching. */
const TOOL = "runners.linux_007.assign";

function valueOf<TValue>(reply: Reply, schema: z.ZodType<TValue>): TValue {
  assertPromised(reply.ok, "a tool of the gateway answers");
  return schema.parse(reply.value);
}

/** Finds what it needs, looks at how to call it, and calls several at once. */
async function work({ cast: { hub }, printer }: Scene): Promise<void> {
  const listed = valueOf(await hub.call("list", { limit: 1 }), Listed);
  const inFleet = valueOf(await hub.call("list", { namespace: "runners", limit: 1 }), Listed);
  const found = valueOf(await hub.call("search", { q: "linux_007 more jobs" }), Found);
  const { inputSchema } = valueOf(await hub.call("schema", { tool: TOOL }), Schemas);
  printer.details([
    `  list      ${listed.total} operations are behind them, ${inFleet.total} of those in the namespace runners`,
    `  search    "linux_007 more jobs" finds ${found.tools[0]?.tool}`,
    `  schema    of ${TOOL}: it takes ${Object.keys(inputSchema.properties).join(", ")}`,
  ]);
  const promise = "the four tools lead to 500 operations of runners";
  assertPromised(inFleet.total === 500 && found.tools.some(({ tool }) => tool === TOOL), promise);
  const calls = [
    { tool: TOOL, input: { jobs: 3 } },
    { tool: "runners.linux_007.restart" },
    { tool: "runners.linux_007.launch" },
    { tool: "node.show", input: { node: "hello" } },
  ];
  const { results } = valueOf(await hub.call("call", { calls }), Batch);
  const said = results.map(({ success, error }) => (success ? "answered" : (error?.code ?? "failed")));
  printer.details([`  call      ${calls.length} of them in one: ${said.join(", ")}`]);
  assertPromised(results.length === calls.length && said.join() === expected, "one that fails changes no other");
}

const expected = "answered,answered,OPERATION_NOT_FOUND,answered";

function newestBatch(roots: readonly CallNode[]): CallNode | undefined {
  return roots.findLast(({ operationId }) => operationId === "call");
}

/** Five hundred operations behind four tools, and one call of them as a tree. */
export async function showHub(scene: Scene): Promise<void> {
  const { cast, calls, printer } = scene;
  const [first = "", ...rest] = await toSight(cast.hub, scene);
  printer.step(first, rest);
  await work(scene);
  const direct = await cast.hub.call("node_show", { node: "hello" });
  assertPromised(!direct.ok, "what is behind the four tools is called by them alone");
  printer.details([`  is refused node_show by itself: ${wordsOf(direct)}`]);
  const batch = newestBatch(calls.roots());
  assertPromised(batch !== undefined && batch.children.length > 0, "what was called is there as a tree");
  printer.step(
    "the server has that call as a tree:",
    toCallTree(batch).map((line) => `  ${line}`),
  );
}
