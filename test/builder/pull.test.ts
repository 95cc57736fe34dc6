import { describe, expect, it } from "vitest";
import { mcp } from "../../src/builder/mcp.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { expectRefusal } from "../tags/support.ts";
import { counter, deadLink } from "./support.ts";
import { z } from "zod";

const link = deadLink();

/** Any step of the chain, whatever the compiler says of it. */
interface AnyStep {
  pull(): AnyStep;
  expose(map: object): AnyStep;
  tools(tools: object): AnyStep;
  bridge(to: unknown): AnyStep;
}

// Callers who cast are what it is for.
const any = (app: unknown): AnyStep => app as AnyStep;

const pair = ["read_resource", "wait_for_change"] as const;

describe("pull()", () => {
  it("pull() adds both tools at any stage, and does not change the app before", async () => {
    const base = mcp(counter);
    for (const app of [base.pull().bridge(link), base.bridge(link).pull()]) {
      const client = createTestClient(app);
      expect(await client.toolNames()).toEqual(["count_bump", ...pair]);
      await client.close();
    }
    const without = createTestClient(base.bridge(link));
    expect(await without.toolNames()).toEqual(["count_bump"]);
    expect(await without.request("tools/call", { name: "read_resource" }).catch(() => "none")).toBe("none");
    await without.close();
  });

  it("pull() advertises both tools as read-only, with an output schema", async () => {
    const client = createTestClient(mcp(counter).bridge(link).pull());
    const { tools } = await client.request("tools/list");
    const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
    expect(tools).toMatchObject([
      { name: "count_bump" },
      { name: "read_resource", annotations, outputSchema: { required: ["uri", "value"] } },
      { name: "wait_for_change", annotations, outputSchema: { required: ["status", "changed", "cursor"] } },
    ]);
    await client.close();
  });

  it("pull() exposes nothing that was not exposed", async () => {
    const surface = defineSurface("s", { state: cell({ schema: z.number() }) });
    const client = createTestClient(mcp(surface).bridge(link).pull());
    expect(await client.tools.read_resource({ uri: "surface://s/state" })).toMatchObject({ code: "NOT_FOUND" });
    expect(await client.tools.wait_for_change({ uris: ["surface://s/state"] })).toMatchObject({ code: "NOT_FOUND" });
    await client.close();
  });

  it("pull() throws NAME_COLLISION when it is called twice", () => {
    for (const app of [any(mcp(counter)).pull(), any(mcp(counter)).bridge(link).pull()]) {
      expectRefusal(() => app.pull(), "NAME_COLLISION", "Cannot call pull(): it was called already");
    }
  });

  it.each(pair)("the name %s collides with a member, an exposed member and a bespoke tool, in every order", (name) => {
    const tool = procedure({});
    const tagged = any(mcp(defineSurface("s", { [name.replace("_", ".")]: mcpTool(tool) } as Record<never, never>)));
    const plain = any(mcp(defineSurface("s", { [name]: tool } as Record<never, never>)));
    const bespoke = { [name]: { handler: () => 1 } };
    const orders = [
      () => tagged.pull(),
      () => plain.pull().expose({ [name]: "tool" }),
      () => plain.expose({ [name]: "tool" }).pull(),
      () => any(mcp(counter)).bridge(link).pull().tools(bespoke),
      () => any(mcp(counter)).bridge(link).tools(bespoke).pull(),
    ];
    for (const order of orders) {
      expectRefusal(order, "NAME_COLLISION", `the wire name "${name}" is taken by`);
    }
  });

  it("a resource may have the name of a tool of pull()", async () => {
    const surface = defineSurface("s", { read_resource: mcpResource(cell({ schema: z.number() })) });
    const client = createTestClient(mcp(surface).bridge(link).pull());
    expect(await client.toolNames()).toEqual([...pair]);
    await client.close();
  });
});
