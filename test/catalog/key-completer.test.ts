import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { collection } from "../../src/surface/collection.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
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
});
