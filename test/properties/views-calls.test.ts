import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { http } from "../../src/http/index.ts";
import {
  content,
  defineSurface,
  mcp,
  operationRegistry,
  Refusal,
  textBlock,
  type CallEvent,
  type CallNode,
} from "../../src/index.ts";
import { agentKinds, type Agent } from "../scenarios/support/clients.ts";
import { draws } from "../setup/test-length.ts";

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

type Json = Readonly<Record<string, unknown>>;

/** What may be behind a gateway, each with what it takes. */
const operations = ["ops.echo", "ops.loose", "ops.sum", "ops.refuse", "ops.throw", "ops.lie", "ops.draw", "ops.nest"];

function createRegistry(): ReturnType<typeof operationRegistry> {
  const registry = operationRegistry();
  const any = z.object({ value: z.unknown() });
  registry.register({ name: "echo", inputSchema: any }, ({ value }) => ({ value }));
  registry.register({ name: "loose", inputSchema: { type: "object" } }, (input) => input);
  registry.register(
    { name: "sum", inputSchema: z.object({ of: z.array(z.number()).max(4) }), outputSchema: z.number() },
    ({ of }) => of.reduce((left, right) => left + right, 0),
  );
  registry.register({ name: "refuse", inputSchema: any }, ({ value }) => {
    throw new Refusal("NO_ROOM", "there is no room", { value: JSON.stringify(value) });
  });
  registry.register({ name: "throw" }, () => {
    throw new TypeError("hunter2");
  });
  registry.register({ name: "lie", outputSchema: z.object({ n: z.int() }) }, () => JSON.parse('{"n":"hunter2"}'));
  registry.register({ name: "draw" }, () => content([textBlock("a picture")]));
  registry.register({ name: "nest", inputSchema: any, canCall: ["ops.*"] }, async ({ value }, { call }) => ({
    got: await call("ops.echo", { value: JSON.stringify(value) }),
  }));
  return registry;
}

const app = mcp(defineSurface("calls", {}), { onFault: () => {} })
  .implement({})
  .mount("ops", createRegistry())
  .views({ hub: { face: "gateway" } });

const input: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ value: fc.jsonValue({ maxDepth: 2 }) }),
  fc.record({ of: fc.array(fc.oneof(fc.integer(), fc.constant("1")), { maxLength: 6 }) }),
  fc.constant({}),
  fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3, noNullPrototype: true }),
);
const call = fc.record({ tool: fc.constantFrom(...operations, "ops.none", "echo"), input });

/** What a batch says of a call that was answered so when it was made by itself. */
function toResult(direct: Json): Json {
  if (direct["isError"] !== true) return { success: true, result: direct["structuredContent"] ?? direct["content"] };
  const { code, message, details, issues } = Object(Object(direct["_meta"])["surface-mcp/error"]);
  const more = details ?? issues;
  return { success: false, error: { code, message, ...(more === undefined ? {} : { details: more }) } };
}

async function directly(agent: Agent, { tool, input: args }: { tool: string; input: Json }): Promise<Json> {
  if (!operations.includes(tool)) {
    const near = tool === "echo" ? '; near it: "ops.echo"' : "";
    const error = { code: "OPERATION_NOT_FOUND", message: `there is no operation of this name${near}` };
    return { success: false, error };
  }
  return toResult(await agent.call(tool.replaceAll(".", "_"), args));
}

/** What differs each time a masked failure is told of. */
function withoutCorrelation(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, "UUID"));
}

async function resultsOf(agent: Agent, args: object): Promise<readonly unknown[]> {
  const { structuredContent } = await agent.call("call", { ...args });
  return [Object(structuredContent).results].flat();
}

const runs = { numRuns: draws(12, 40), seed: 20_260_728, plugins: [fc.interruptAfterTimeLimit(15_000)] };

describe.each(agentKinds)("any calls by $name", ({ connect }) => {
  const open = async (): Promise<(query: string) => Promise<Agent>> => {
    const serving = await http({ port: 0, exit: false, drainMs: 0 }).serve(app);
    ending.push(() => serving.close());
    return async (query) => {
      const agent = await connect({ url: `${serving.url}${query}` });
      ending.push(() => agent.close());
      return agent;
    };
  };

  it("have the same results in a gateway's batch as by the tools themselves", async () => {
    const enter = await open();
    const [hub, direct] = [await enter("?surface=hub"), await enter("")];
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 8 }), fc.boolean(), async (calls, parallel) => {
        const results = await resultsOf(hub, { calls, parallel });
        const expected: Json[] = [];
        for (const each of calls) expected.push(await directly(direct, each));
        expect(withoutCorrelation(results)).toEqual(withoutCorrelation(expected));
        expect(JSON.stringify(results)).not.toContain("hunter2");
      }),
      runs,
    );
  }, 60_000);

  it("end exactly once, each within the call above it and no later than that", async () => {
    const enter = await open();
    const hub = await enter("?surface=hub");
    const told: CallEvent[] = [];
    ending.push(async () => stop());
    const stop = app.calls.subscribe((event) => void told.push(event));
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 6 }), fc.boolean(), async (calls, parallel) => {
        told.length = 0;
        await resultsOf(hub, { calls, parallel });
        const root = app.calls.roots().at(-1);
        const known = calls.filter(({ tool }) => operations.includes(tool));
        expect(root?.children.map(({ operationId }) => operationId)).toEqual(known.map(({ tool }) => tool));
        checkTree(root, told);
      }),
      runs,
    );
  }, 60_000);
});

const finals = ["completed", "error", "aborted"];

function nodesOf(node: CallNode): readonly CallNode[] {
  return [node, ...node.children.flatMap(nodesOf)];
}

/** Holds a tree that has ended against what was told of it. */
function checkTree(root: CallNode | undefined, told: readonly CallEvent[]): void {
  const nodes = root === undefined ? [] : nodesOf(root);
  for (const node of nodes) {
    const mine = told.filter(({ requestId }) => requestId === node.requestId).map(({ type }) => type);
    expect(mine[0]).toBe("requested");
    expect(mine.filter((type) => finals.includes(type))).toEqual([node.state]);
    expect(mine.at(-1)).toBe(node.state);
    for (const child of node.children) {
      expect(child.parentRequestId).toBe(node.requestId);
      expect(child.endedAt).toBeLessThanOrEqual(node.endedAt ?? 0);
      expect(child.deadline ?? 0).toBeLessThanOrEqual(node.deadline ?? 0);
    }
  }
  expect(new Set(told.map(({ requestId }) => requestId)).size).toBe(nodes.length);
}
