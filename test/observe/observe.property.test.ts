import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Observation } from "../../src/index.ts";
import type { Era } from "../../src/mcp/protocol.ts";
import { legacyLine, modernLine } from "../fixtures/envelope.ts";
import { ConnectionHarness } from "../mcp/connection-harness.ts";
import { createObservedApp } from "./observed-app.ts";

const requests = [
  ["tools/list", {}],
  ["tools/call", { name: "outer" }],
  ["tools/call", { name: "slow" }],
  ["tools/call", { name: "fault" }],
  ["tools/call", { name: "unknown" }],
  ["resources/read", { uri: "surface://observed/level" }],
  ["resources/subscribe", { uri: "surface://observed/level" }],
  ["subscriptions/listen", { notifications: { resourceSubscriptions: ["surface://observed/level"] } }],
  ["prompts/get", { name: "greet", arguments: { who: "a" } }],
  ["no/method", {}],
] as const;

type Step =
  | { readonly kind: "send"; readonly request: number; readonly id: number }
  | { readonly kind: "cancel"; readonly id: number }
  | { readonly kind: "turn" };

const id = fc.integer({ min: 1, max: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("send" as const), request: fc.nat(requests.length - 1), id }),
  fc.record({ kind: fc.constant("cancel" as const), id }),
  fc.record({ kind: fc.constant("turn" as const) }),
);

/** Returns the ids of starts or ends. */
function idsOf(records: readonly Observation[], kind: "start" | "end"): readonly string[] {
  const ids = records.filter(({ type }) => type.endsWith(`-${kind}`)).map((record) => Reflect.get(record, "id"));
  return ids.map(String).toSorted();
}

/** Returns the ends that came before their starts, or a second time. */
function endsBeforeStarts(records: readonly Observation[]): readonly Observation[] {
  const open = new Set<unknown>();
  return records.filter((record) => {
    const key: unknown = Reflect.get(record, "id");
    if (record.type.endsWith("-start")) open.add(key);
    return record.type.endsWith("-end") && !open.delete(key);
  });
}

async function play(era: Era, steps: readonly Step[]): Promise<readonly Observation[]> {
  const { app, records } = createObservedApp();
  const harness = await new ConnectionHarness(app.open()).open(era);
  const toLine = era === "legacy" ? legacyLine : modernLine;
  for (const one of steps) {
    if (one.kind === "turn") await new Promise((resolve) => setImmediate(resolve));
    else if (one.kind === "send") {
      const [method, params] = requests[one.request] ?? ["ping", {}];
      harness.receive(toLine(one.id, method, params));
    } else {
      const params = { requestId: one.id };
      harness.receive(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params }));
    }
  }
  await harness.close();
  await new Promise((resolve) => setImmediate(resolve));
  return records;
}

describe.each(["legacy", "modern"] as const)("a random session of the %s era", (era) => {
  it("has exactly one end for each start, however its requests end", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const records = await play(era, steps);
        expect(idsOf(records, "end")).toEqual(idsOf(records, "start"));
        expect(endsBeforeStarts(records)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
