import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { CallContext } from "../../../src/call/call-context.ts";
import { withKeyCompleters } from "../../../src/catalog/resources/collection-keys.ts";
import { inProcess } from "../../../src/links/in-process.ts";
import { collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { cellSource } from "../../../src/surface/source.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { flakyBackend } from "./flaky-backend.ts";

const shed = defineSurface("shed", {
  tools: mcpResource(collection({ key: z.string(), schema: z.number() })),
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closers.splice(0)) await close();
});

function serve(faults: Fault[]) {
  const live = implementSurface(shed, { tools: cellSource(new Map([["saw", 1]])) }, { onFault: () => {} });
  const flaky = flakyBackend(live);
  const client = createTestClient(mcp(shed, { onFault: (fault) => faults.push(fault) }).bridge(flaky.link));
  closers.push(async () => {
    await client.close();
    await live.close();
  });
  return { client, flaky };
}

function openWith(keys: readonly string[]) {
  const live = implementSurface(shed, { tools: cellSource(new Map(keys.map((key, index) => [key, index]))) });
  const client = createTestClient(mcp(shed, { onFault: () => {} }).bridge(inProcess(live)));
  closers.push(async () => {
    await client.close();
    await live.close();
  });
  return client;
}

describe("completing the key of a collection", () => {
  it("proposes nothing while the backend is away, tells no fault of it, and goes on when it is back", async () => {
    const faults: Fault[] = [];
    const { client, flaky } = serve(faults);
    const ofCompleting = (): readonly Fault[] => faults.filter(({ where }) => where.startsWith("completing"));
    const ask = async (): Promise<unknown> => client.complete({ resource: "tools", variable: "key" }, "s");
    expect(await ask()).toMatchObject({ values: ["saw"] });
    flaky.down();
    const asked = Promise.all([ask(), ask(), ask()]);
    expect(await asked).toMatchObject([{ values: [] }, { values: [] }, { values: [] }]);
    expect(ofCompleting()).toEqual([]);
    flaky.up();
    await vi.waitFor(async () => expect(await ask()).toMatchObject({ values: ["saw"] }), { timeout: 10_000 });
    expect(ofCompleting()).toEqual([]);
  });

  it("stops after more than are counted, and then does not say how many there are", async () => {
    const keys = Array.from({ length: 3000 }, (_, index) => `k${index}`);
    const client = openWith(keys);
    const all = await client.complete({ resource: "tools", variable: "key" }, "K");
    expect(all).toEqual({ values: keys.slice(0, 100), hasMore: true });
    const some = await client.complete({ resource: "tools", variable: "key" }, "k29");
    expect(some).toMatchObject({ total: 111, hasMore: true });
    expect(await client.complete({ resource: "tools", variable: "key" }, "k2999")).toEqual({
      values: ["k2999"],
      total: 1,
      hasMore: false,
    });
  });

  it("ends its read when its caller is gone", async () => {
    const signals: AbortSignal[] = [];
    const read = ({ signal }: { readonly signal: AbortSignal }): Promise<string> => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const variable = { name: "key", json: { type: "string" }, required: true };
    // Of all three no more than this is looked at.
    const template = withKeyCompleters({ variables: [variable] } as never, { origin: "a", read } as never);
    const gone = new AbortController();
    const asked = template.variables[0]?.complete?.("s", { signal: gone.signal } as never, {});
    gone.abort();
    await expect(asked).rejects.toMatchObject({ code: "ABORTED" });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("lets other work have its turn while it goes through a long list", async () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => `k${index}`);
    const text = JSON.stringify(keys);
    const resource = { origin: 'collection "tools"', read: async () => text };
    const variable = { name: "key", json: { type: "string" }, required: true };
    // Of both no more than this is looked at.
    const template = withKeyCompleters({ variables: [variable] } as never, resource as never);
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const call = new CallContext();
    expect(await template.variables[0]?.complete?.("k9999", call, {})).toEqual(["k9999"]);
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(4);
  });
});
