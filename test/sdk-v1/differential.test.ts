import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handshake } from "../fixtures/envelope.ts";
import { createHostileApp } from "../fixtures/hostile.ts";
import { asks, featureAsks, withoutChance } from "../mcp/differential-cases.ts";
import { letIn, keptOut, toCaller, viewAsks, type Coming } from "../mcp/differential-views-cases.ts";
import { createFeaturesApp } from "../mcp/features-app.ts";
import { ConnectionHarness } from "../mcp/connection-harness.ts";
import { createViewsApp } from "../mcp/views-app.ts";
import { V1Harness } from "./v1-harness.ts";

describe("an attached server of the SDK 1.x and our own, over the hostile app", () => {
  let gate: ConnectionHarness;
  let attached: V1Harness;
  const quiet = { pageSize: 7, onFault: () => {} };

  beforeAll(async () => {
    gate = await new ConnectionHarness(createHostileApp(quiet).open()).open("legacy");
    attached = await new V1Harness(createHostileApp(quiet)).open();
  });
  afterAll(() => Promise.all([gate.close(), attached.close()]));

  it.each(asks)("give the same answer to %s", async (id, method, params) => {
    const ours = await gate.request("legacy", id, params === undefined ? { method } : { method, params });
    expect(withoutChance(await attached.request(id, method, params))).toEqual(withoutChance(ours));
  });

  it("give the same answer to an unreadable request", async () => {
    let nested: unknown = 1;
    for (let depth = 0; depth < 100_000; depth += 1) nested = [nested];
    const cases: readonly object[] = [
      { v: nested },
      { v: Array.from({ length: 20_000 }, () => 1) },
      { v: "ü".repeat(3_000_000) },
    ];
    const answers = [];
    for (const [id, args] of cases.entries()) {
      answers.push(await attached.request(`bad ${id}`, "tools/call", { name: "any", arguments: args }));
    }
    expect(answers).toMatchObject(
      [
        { error: { code: -32600, message: /deeper/ } },
        { error: { code: -32602, message: /more elements/ } },
        { error: { code: -32600, message: /larger/ } },
      ].map(({ error: { code, message } }) => ({ error: { code, message: expect.stringMatching(message) } })),
    );
  });
});

describe("an attached server of the SDK 1.x and our own, over the features app", () => {
  it("give the same answer to every method", async () => {
    const gate = await new ConnectionHarness(createFeaturesApp().open()).open("legacy");
    const attached = await new V1Harness(createFeaturesApp()).open();
    for (const [id, [method, params]] of featureAsks.entries()) {
      const ours = await gate.request("legacy", id, { method, params });
      const theirs = await attached.request(id, method, params);
      expect(withoutChance(theirs), `${method} ${JSON.stringify(params)}`).toEqual(withoutChance(ours));
    }
    await Promise.all([gate.close(), attached.close()]);
  });
});

describe("an attached server of the SDK 1.x and our own, by views", () => {
  const attachAs = (coming: Coming): V1Harness =>
    new V1Harness(createViewsApp().app, { caller: () => toCaller(coming) });

  it.each(letIn)("give the same answers to $who by the view $surface", async (coming) => {
    const gate = await new ConnectionHarness(createViewsApp().open(), toCaller(coming)).open("legacy");
    const attached = await attachAs(coming).open();
    for (const [id, [method, params]] of viewAsks.entries()) {
      const ours = await gate.request("legacy", id, { method, params });
      const theirs = await attached.request(id, method, params);
      expect(withoutChance(theirs), `${method} ${JSON.stringify(params)}`).toEqual(withoutChance(ours));
    }
    await Promise.all([gate.close(), attached.close()]);
  });

  it.each(keptOut)("refuse $who alike by the view $surface", async (coming) => {
    const gate = new ConnectionHarness(createViewsApp().open(), toCaller(coming));
    const attached = await attachAs(coming).open();
    const why = await gate.request("legacy", "why", { method: "initialize", params: handshake });
    for (const [id, [method, params]] of viewAsks.entries()) {
      expect(await attached.request(id, method, params)).toEqual({ ...why, id });
    }
    await Promise.all([gate.close(), attached.close()]);
  });
});
