import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { methodsOf } from "../../src/mcp/methods.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import { envelope } from "../fixtures/envelope.ts";
import { createHostileApp } from "../fixtures/hostile.ts";
import type { Request, Sent } from "./client-harness.ts";
import { asks, featureAsks, knownTo, versions, withoutChance } from "./differential-cases.ts";
import { createFeaturesApp } from "./features-app.ts";
import { ConnectionHarness } from "./connection-harness.ts";
import { OracleHarness } from "./oracle/oracle-harness.ts";

const uri = "app://state";
const touch = { method: "tools/call", params: { name: "touch", arguments: { uri } } };
const cancel = (requestId: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });

/** Messages in an order that does not depend on timers: notifications by their method, answers by their id. */
function sorted(sent: readonly Sent[]): readonly Sent[] {
  const keyOf = ({ method, id }: Sent): string => String(method ?? id);
  return sent.toSorted((left, right) => keyOf(left).localeCompare(keyOf(right), "en"));
}

describe.each(versions)("a connection of ours and one of the SDK, with %s", (version, era) => {
  let ours: ConnectionHarness;
  let theirs: OracleHarness;

  async function open(create: () => AppRuntime): Promise<void> {
    ours = await new ConnectionHarness(create()).open(era, version);
    theirs = await new OracleHarness(create()).open(era, version);
  }

  beforeEach(() => open(() => createHostileApp({ onFault: () => {} }).open()));
  afterEach(() => Promise.all([ours.close(), theirs.close()]));

  let lastId = 0;
  async function both(request: Request): Promise<void> {
    lastId += 1;
    for (const each of [ours, theirs]) await each.request(era, lastId, request);
  }

  function expectAlike(): void {
    expect(withoutChance(sorted(ours.sent))).toEqual(knownTo(version, withoutChance(sorted(theirs.sent))));
  }

  it("answers a ping alike, which clients up to 2025-11-25 have", async () => {
    await both({ method: "ping" });
    expectAlike();
    expect(ours.sent).toMatchObject([era === "legacy" ? { result: {} } : { error: { code: -32601 } }]);
  });

  it("sends the same messages of the log, at the level that the client set", async () => {
    await Promise.all([ours.close(), theirs.close()]);
    await open(() => createFeaturesApp().open());
    const level = { "io.modelcontextprotocol/logLevel": "debug" };
    const call = { method: "tools/call", params: { name: "link" } };
    const logged = { ...call, params: { ...call.params, _meta: { ...envelope, ...level } } };
    if (era === "legacy") await both({ method: "logging/setLevel", params: { level: "debug" } });
    await both(era === "legacy" ? call : logged);
    expectAlike();
    expect(ours.sent.filter(({ method }) => method === "notifications/message")).toHaveLength(1);
  });

  it("announces changes alike, from a subscription of a client up to 2025-11-25 until it ends", async () => {
    const due = era === "legacy" ? 1 : 0;
    const updates = (): number => ours.sent.filter(({ method }) => method === "notifications/resources/updated").length;
    await both({ method: "resources/subscribe", params: { uri } });
    await both(touch);
    await theirs.announce(uri);
    await ours.until(() => updates() === due);
    await both({ method: "resources/unsubscribe", params: { uri } });
    await both(touch);
    await theirs.announce(uri);
    expectAlike();
    expect(updates()).toBe(due);
  });

  it("sends no answer to a cancelled call, and answers the next one under its id", async () => {
    const slow = (ms: number): Request => ({ method: "tools/call", params: { name: "slow", arguments: { ms } } });
    for (const each of [ours, theirs]) {
      const running = each.request(era, "slow", slow(60_000));
      await each.request(era, "behind", { method: "tools/list" });
      each.receive(cancel("slow"));
      await each.request(era, "after", { method: "tools/list" });
      expect(each.answers("slow")).toEqual([]);
      await each.request(era, "slow", slow(1));
      await running;
    }
    expectAlike();
  });
});

describe("the differential tests", () => {
  it("send every method that is served", () => {
    const sent = new Set([
      ...asks.map(([, method]) => method),
      ...featureAsks.map(([method]) => method),
      // By the tests of connections, of introductions and of subscriptions.
      ...["ping", "logging/setLevel", "initialize", "server/discover"],
      // No method of the protocol: clients of other protocols end with it.
      "shutdown",
    ]);
    const { legacy, modern } = methodsOf(createFeaturesApp().open());
    expect([...legacy.keys(), ...modern.keys()].filter((method) => !sent.has(method))).toEqual([]);
  });
});
