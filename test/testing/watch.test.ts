import { afterAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { cell, collection } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { cast } from "../tags/support.ts";

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  rows: mcpResource(collection({ key: z.string().max(3), schema: z.number() })),
});
const state = cellSource(0);
const rows = cellSource<ReadonlyMap<string, number>>(new Map());
const client = createTestClient(mcp(surface, { changeWindowMs: 0 }).implement({ state, rows }));
afterAll(() => client.close());

describe("watch() of a test client", () => {
  it("watch() tells of a change that comes as soon as it has resolved, and of none after it has ended", async () => {
    const changed = vi.fn<() => void>();
    const end = await client.watch("state", changed);
    state.set(1);
    await expect.poll(() => changed).toHaveBeenCalledTimes(1);
    end();
    state.set(2);
    expect(await client.read("state")).toBe(2);
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it("watch() takes variables, also of an item that is not there yet", async () => {
    const changed = vi.fn<() => void>();
    const end = await client.watch("rows", changed, { key: "a" });
    rows.set(new Map([["a", 1]]));
    await expect.poll(() => changed).toHaveBeenCalledTimes(1);
    end();
  });

  it("watch() rejects with NOT_FOUND when nothing can be there", async () => {
    const refused = { code: "NOT_FOUND" };
    await expect(cast(client.watch.bind(client), "nope", () => {})).rejects.toMatchObject(refused);
    await expect(client.watch("rows", () => {}, { key: "too long" })).rejects.toMatchObject(refused);
    await expect(client.watch("rows", () => {}, { key: "" })).rejects.toMatchObject(refused);
  });
});
