import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Observation, RequestEnd } from "../../src/index.ts";
import { doors as transports } from "../properties/tested-transports.ts";
import { createObservedApp } from "./observed-app.ts";

const requests = [
  ["tools/list", {}],
  ["tools/call", { name: "echo", arguments: { text: "a" } }],
  ["tools/call", { name: "echo", arguments: { text: 1 } }],
  ["tools/call", { name: "outer" }],
  ["tools/call", { name: "no" }],
  ["tools/call", { name: "fault" }],
  ["tools/call", { name: "guarded" }],
  ["tools/call", { name: "unknown" }],
  ["resources/list", {}],
  ["resources/read", { uri: "surface://observed/level" }],
  ["resources/read", { uri: "surface://observed/unknown" }],
  ["prompts/get", { name: "greet", arguments: { who: "a" } }],
  ["prompts/get", { name: "unknown" }],
  ["no/method", {}],
] as const;

/** Up to 2025-11-25 an unknown resource has a code that later versions do not have. */
const sameCodes: Readonly<Record<number, number>> = { [-32002]: -32602 };

/** Returns the fields of a record that do not depend on time, transport and protocol version. */
function summarise(record: Observation): string {
  const { type, method, operation, outcome, refusedAt, code, rpcCode } = record as Partial<RequestEnd>;
  return JSON.stringify([type, method, operation, outcome, refusedAt, code, sameCodes[rpcCode ?? 0] ?? rpcCode]);
}

/** Sends requests one after the other. Returns the records between the handshake and the end. */
async function play(transport: (typeof transports)[number], script: readonly number[]): Promise<readonly string[]> {
  const { app, records } = createObservedApp();
  const open = await transport.open(app, undefined);
  const before = records.length;
  for (const index of script) {
    const [method, params] = requests[index] ?? ["tools/list", {}];
    await open.ask(method, params);
  }
  // A client from 2026-07-28 on starts its session over stdio with its first request.
  const own = records.slice(before).filter(({ type }) => !type.startsWith("session-"));
  await open.close();
  return own.map(summarise);
}

describe("the records of a random session", () => {
  it("are the same over all transports and protocol versions", { timeout: 60_000 }, async () => {
    const [first, ...others] = transports.filter(({ name }) => !name.startsWith("the test client"));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(requests.length - 1), { minLength: 1, maxLength: 8 }), async (script) => {
        const expected = first && (await play(first, script));
        for (const transport of others) {
          const { name } = transport;
          expect({ name, records: await play(transport, script) }).toEqual({ name, records: expected });
        }
      }),
      { numRuns: 30 },
    );
  });
});
