import { describe, expect, it } from "vitest";
import * as z from "zod";
import { mcp } from "../../../src/builder/mcp.ts";
import { cell, collection } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { kPushed, kPushedCollection, type Reading, type Staleness } from "../../../src/surface/reading.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { Pushed } from "../../surface/owner/pushed.ts";
import { settle, until } from "../../surface/support.ts";

const lost: Staleness = { reason: "lost", since: "2026-01-02T03:04:05.678Z" };

const surface = defineSurface("probe", {
  size: mcpResource(cell({ schema: z.number() })),
  rows: mcpResource(collection({ key: z.string(), schema: z.number() }), { listItems: true }),
});

function openApp(era: "legacy" | "modern") {
  const pushed = new Pushed<Reading<number>>();
  const read = async (): Promise<Reading<readonly string[]>> => ({ value: ["a"], stale: lost });
  const item = async (key: string): Promise<Reading<number | undefined>> => ({
    value: key === "a" ? 1 : undefined,
    stale: lost,
  });
  const rows = {
    keys: read,
    item,
    async *watchKeys() {
      yield await read();
    },
    async *watchItem(key: string) {
      yield await item(key);
    },
  };
  const app = mcp(surface).implement({
    size: { [kPushed]: { open: (signal) => pushed.run(signal) } },
    rows: { [kPushedCollection]: rows },
  });
  return { pushed, client: createTestClient(app, { era }) };
}

describe.each(["legacy", "modern"] as const)("a stale resource in the %s era", (era) => {
  it("says so beside its value, and is announced when it goes stale and when it is no longer", async () => {
    const { pushed, client } = openApp(era);
    let notices = 0;
    const watching = client.watch("size", () => (notices += 1));
    await until(() => pushed.opened === 1);
    await settle();
    pushed.push({ value: 5 });
    const stop = await watching;
    const uri = "surface://probe/size";
    const contents = async (): Promise<unknown> => (await client.request("resources/read", { uri }))["contents"];
    expect(await contents()).toEqual([{ uri, mimeType: "application/json", text: "5" }]);
    expect(notices).toBe(0);
    pushed.push({ value: 5, stale: lost });
    await until(() => notices === 1, "the notice that it is stale");
    expect(await contents()).toEqual([
      { uri, mimeType: "application/json", text: "5", _meta: { "surface-mcp/stale": lost } },
    ]);
    expect(await client.read("size")).toBe(5);
    pushed.push({ value: 5 });
    await until(() => notices === 2, "the notice that it is not stale any more");
    expect(await contents()).toEqual([{ uri, mimeType: "application/json", text: "5" }]);
    stop();
    await client.close();
    expect(pushed.running).toBe(0);
  });

  it("keys and items of a collection say so, and its items are listed", async () => {
    const { client } = openApp(era);
    const metaOf = async (uri: string): Promise<unknown> =>
      (await client.request("resources/read", { uri }))["contents"];
    const marked = { _meta: { "surface-mcp/stale": lost } };
    expect(await metaOf("surface://probe/rows")).toMatchObject([{ text: '["a"]', ...marked }]);
    expect(await metaOf("surface://probe/rows/a")).toMatchObject([{ text: "1", ...marked }]);
    await expect(metaOf("surface://probe/rows/b")).rejects.toMatchObject({ name: "RpcFailure" });
    const listed = async (): Promise<string> => JSON.stringify(await client.request("resources/list"));
    await listed();
    await settle(10);
    expect(await listed()).toContain("surface://probe/rows/a");
    await client.close();
  });
});
