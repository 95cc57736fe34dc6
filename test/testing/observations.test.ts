import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineSurface, mcp, mcpTool, procedure, readOnly, Refusal, type RequestEnd } from "../../src/index.ts";
import { createTestClient } from "../../src/testing/index.ts";

const surface = defineSurface("shop", {
  show: readOnly(mcpTool(procedure({ output: z.string() }))),
  pay: mcpTool(procedure({ input: z.object({ cents: z.int() }), output: z.string() }), { confirm: true }),
  fail: mcpTool(procedure({ output: z.string() })),
  outer: mcpTool(procedure({})),
});

function createApp() {
  return mcp(surface)
    .implement({
      show: () => "apples",
      pay: ({ cents }) => `paid ${cents}`,
      fail: () => {
        throw new Refusal("NOT_NOW", "no");
      },
      outer: () => {},
    })
    .tools({ nest: { canCall: ["show"], handler: async (_args, { call }) => void (await call("show", {})) } })
    .views({ quiet: { deny: "not now" } });
}

type Client = Pick<ReturnType<typeof createTestClient>, "observations">;

function endsOf(client: Client): readonly RequestEnd[] {
  return client.observations.filter((record) => record.type === "request-end");
}

describe.each(["legacy", "modern"] as const)("observations of a test client, %s", (era) => {
  it("have the caller, the operation and the outcome of each request, in order", async () => {
    const caller = { id: "ben", isAnonymous: false, scopes: ["shop:read"] };
    const client = createTestClient(createApp(), { era, caller });
    await client.toolNames();
    await client.tools.show();
    await expect(client.tools.fail()).rejects.toThrow("scope");
    const ends = endsOf(client);
    expect(ends).toMatchObject([
      { method: "tools/list", outcome: "ok" },
      { method: "tools/call", outcome: "ok", operation: { id: "show", mutates: false } },
      { method: "tools/call", outcome: "refused", refusedAt: "scope" },
    ]);
    const protocol = era === "legacy" ? "2025-11-25" : "2026-07-28";
    for (const end of ends) {
      expect(end).toMatchObject({ transport: "test", protocol, view: "default", caller: { id: "ben" } });
    }
    const starts = client.observations.filter(({ type }) => type === "request-start");
    expect(starts).toMatchObject(ends.map(({ id }) => ({ id })));
    await client.close();
    expect(client.observations.at(0)).toMatchObject({ type: "session-start", protocol });
    expect(client.observations.filter(({ type }) => type === "session-end")).toMatchObject([{ reason: "client" }]);
  });

  it("have nested calls, refusals, questions and answers", async () => {
    const client = createTestClient(createApp(), { era, elicit: () => false });
    await client.tools.nest();
    expect(await client.tools.pay({ cents: 1 })).toMatchObject({ code: "DECLINED" });
    expect(await client.tools.fail()).toMatchObject({ code: "NOT_NOW" });
    expect(client.observations.filter(({ type }) => type === "call-end")).toMatchObject([{ outcome: "ok" }]);
    expect(client.observations.filter(({ type }) => type.startsWith("question"))).toMatchObject([
      { type: "question-asked", isConfirmation: true },
      { type: "question-answered", answer: "decline" },
    ]);
    const outcomes = endsOf(client).map(({ outcome, code }) => `${outcome} ${code ?? ""}`.trim());
    const declined = era === "legacy" ? ["refused DECLINED"] : ["asked", "refused DECLINED"];
    expect(outcomes).toEqual(["ok", ...declined, "failed NOT_NOW"]);
    await client.close();
  });

  it("have requests that a view denies, as refusals", async () => {
    const client = createTestClient(createApp(), { era, view: "quiet" });
    await expect(client.toolNames()).rejects.toThrow("not now");
    expect(client.observations.filter(({ type }) => type === "refused")).toMatchObject([
      { transport: "test", view: "quiet" },
    ]);
    await client.close();
  });

  it("leave out requests of another client of the app", async () => {
    const app = createApp();
    const [first, second] = [createTestClient(app, { era }), createTestClient(app, { era })];
    await first.tools.show();
    await second.toolNames();
    expect(endsOf(first)).toMatchObject([{ method: "tools/call" }]);
    expect(endsOf(second)).toMatchObject([{ method: "tools/list" }]);
    await first.close();
    await second.close();
  });

  it("refuse a call that an observer of the app does not admit", async () => {
    const app = createApp();
    app.observe({
      record: () => {},
      before: () => {
        throw new Error("the disk is full");
      },
    });
    const client = createTestClient(app, { era });
    await expect(client.tools.show()).rejects.toThrow("cannot be recorded");
    expect(endsOf(client)).toMatchObject([{ outcome: "refused", refusedAt: "record" }]);
    await client.close();
  });
});

describe("createTestClient()", () => {
  it("stops recording when it is closed", async () => {
    const app = createApp();
    const client = createTestClient(app);
    await client.close();
    const { length } = client.observations;
    const later = createTestClient(app);
    await later.tools.show();
    expect(client.observations).toHaveLength(length);
    await later.close();
  });
});
