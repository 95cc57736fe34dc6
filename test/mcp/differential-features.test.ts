import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { featureAsks, knownTo, review, versions, withoutChance } from "./differential-cases.ts";
import { createFeaturesApp } from "./features-app.ts";
import type { ClientHarness } from "./client-harness.ts";
import { ConnectionHarness } from "./connection-harness.ts";
import { OracleHarness } from "./oracle/oracle-harness.ts";

describe.each(versions)("our server and the SDK's with prompts and hand-written entries, with %s", (version, era) => {
  let hot: ClientHarness;
  let sdk: ClientHarness;
  beforeAll(async () => {
    [hot, sdk] = await Promise.all([
      new ConnectionHarness(createFeaturesApp().open()).open(era, version),
      new OracleHarness(createFeaturesApp().open()).open(era, version),
    ]);
  });
  afterAll(() => Promise.all([hot.close(), sdk.close()]));

  it.each(featureAsks.map(([method, params], id) => ({ method, params, id })))(
    "give the same answer to $method $params",
    async ({ method, params, id }) => {
      const [ours, theirs] = await Promise.all([hot, sdk].map((each) => each.request(era, id, { method, params })));
      expect(withoutChance(ours)).toEqual(knownTo(version, withoutChance(theirs)));
    },
  );

  // The SDK's own schemas refuse them, and say so in words of their validator, which are withheld.
  const misfits: readonly (readonly [method: string, params: object])[] = [
    ["prompts/get", {}],
    ["prompts/get", { name: 5 }],
    ["prompts/get", { name: "review", arguments: { track: 7 } }],
    ["prompts/get", { name: "review", arguments: null }],
    ["prompts/get", { name: "review", arguments: ["drums"] }],
    ["prompts/list", { cursor: 5 }],
    ["completion/complete", {}],
    ["completion/complete", { ...review, argument: { name: "tone", value: 1 } }],
    ["completion/complete", { ref: { type: "ref/tool", name: "mixed" }, argument: { name: "a", value: "" } }],
    ["resources/read", { uri: 5 }],
    ["tools/call", { name: "mixed", arguments: "secret" }],
    ...(era === "legacy"
      ? ["toString", "", 5, null, undefined].map((level) => ["logging/setLevel", { level }] as const)
      : []),
  ];

  it.each(misfits.map(([method, params], id) => ({ method, params, id })))(
    "refuse $method $params with one code, ours without the SDK's text",
    async ({ method, params, id }) => {
      const [ours, theirs] = await Promise.all([hot, sdk].map((each) => each.request(era, id, { method, params })));
      expect(ours).toHaveProperty("error.code", -32602);
      expect([{ code: -32602, message: "Invalid params" }, ours?.["error"]]).toContainEqual(theirs?.["error"]);
    },
  );

  it("declare the same capabilities", async () => {
    const greet = async (harness: ClientHarness): Promise<unknown> => {
      const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "a", version: "1" } };
      const ask = era === "legacy" ? { method: "initialize", params } : { method: "server/discover" };
      const answer = await harness.request(era, 1, ask);
      await harness.close();
      return answer;
    };
    const ours = await greet(new ConnectionHarness(createFeaturesApp().open()));
    expect(ours).toEqual(knownTo(version, await greet(new OracleHarness(createFeaturesApp().open()))));
    const can = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} };
    expect(ours).toHaveProperty("result.capabilities", can);
  });
});
