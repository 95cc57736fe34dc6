import { describe, expect, it } from "vitest";
import type { Observation, RequestEnd } from "../../src/index.ts";
import { doors as transports } from "../properties/tested-transports.ts";
import { createObservedApp } from "./observed-app.ts";

const networkTransports = transports.filter(({ name }) => !name.startsWith("the test client"));

type Script = readonly (readonly [method: string, params: Record<string, never> | object])[];

/** Sends requests over one transport, one after the other, and returns the records. */
async function observe(transport: (typeof transports)[number], script: Script): Promise<readonly Observation[]> {
  const { app, records } = createObservedApp();
  const open = await transport.open(app, undefined);
  for (const [method, params] of script) await open.ask(method, params as never);
  await open.close();
  return records;
}

const script: Script = [
  ["tools/list", {}],
  ["resources/list", {}],
  ["resources/templates/list", {}],
  ["prompts/list", {}],
  ["tools/call", { name: "echo", arguments: { text: "a" } }],
  ["tools/call", { name: "echo", arguments: { text: 1 } }],
  ["tools/call", { name: "outer" }],
  ["tools/call", { name: "no" }],
  ["tools/call", { name: "limited" }],
  ["tools/call", { name: "fault" }],
  ["tools/call", { name: "flawed" }],
  ["tools/call", { name: "guarded" }],
  ["tools/call", { name: "sentinel-name" }],
  ["tools/call", { name: 7 }],
  ["resources/read", { uri: "surface://observed/level" }],
  ["resources/read", { uri: "surface://observed/sentinel-uri" }],
  ["prompts/get", { name: "greet", arguments: { who: "me" } }],
  ["prompts/get", { name: "sentinel-prompt" }],
  ["sentinel/method", {}],
];

function summarise(record: RequestEnd): string {
  const { method, outcome, code = "", rpcCode = "", refusedAt = "", operation } = record;
  const op = operation === undefined ? "-" : `${operation.kind} ${operation.id} ${operation.name ?? ""}`.trim();
  return [method, op, outcome, refusedAt, code, rpcCode].join(" | ");
}

const isEnd = (record: Observation): record is RequestEnd => record.type === "request-end";

describe.each(networkTransports)("records of requests over $name", (transport) => {
  it("have one end for each start, in the same order, with every outcome", async () => {
    const records = await observe(transport, script);
    const methods = new Set(script.map(([method]) => method));
    const ends = records.filter(isEnd).filter(({ method }) => methods.has(method) || method === "unknown");
    const unknownUri = transport.name.includes("legacy") ? -32002 : -32602;
    expect(ends.map(summarise)).toEqual([
      "tools/list | - | ok |  |  | ",
      "resources/list | - | ok |  |  | ",
      "resources/templates/list | - | ok |  |  | ",
      "prompts/list | - | ok |  |  | ",
      "tools/call | tool echo echo | ok |  |  | ",
      "tools/call | tool echo echo | refused | params | VALIDATION_ERROR | ",
      "tools/call | tool outer outer | ok |  |  | ",
      "tools/call | tool no no | failed |  | NOT_NOW | ",
      "tools/call | tool limited limited | failed |  | RATE_LIMITED | ",
      "tools/call | tool fault fault | failed |  | INTERNAL | ",
      "tools/call | tool flawed flawed | failed |  |  | ",
      // An anonymous caller can get no scope, so the tool looks unknown.
      "tools/call | - | refused | name |  | -32602",
      "tools/call | - | refused | name |  | -32602",
      "tools/call | - | refused | params |  | -32602",
      "resources/read | resource level | ok |  |  | ",
      `resources/read | - | refused | name |  | ${unknownUri}`,
      "prompts/get | prompt greet greet | ok |  |  | ",
      "prompts/get | - | refused | name |  | -32602",
      "unknown | - | refused | method |  | -32601",
    ]);
    const starts = records.filter(({ type }) => type === "request-start");
    expect(records.filter(isEnd).map(({ id }) => id)).toEqual(starts.map((start) => Reflect.get(start, "id")));
  });

  it("say who asked, by which way, and hold no word of the caller", async () => {
    const records = await observe(transport, script);
    const [name, era] = transport.name.split(", ");
    for (const record of records.filter(isEnd)) {
      expect(record).toMatchObject({
        transport: name === "stdio" ? "stdio" : "http",
        caller: { id: "anonymous", isAnonymous: true },
        view: "default",
        ms: expect.any(Number),
      });
      expect(Object.isFrozen(record)).toBe(true);
    }
    const [call] = records.filter(isEnd).filter(({ method }) => method === "tools/call");
    expect(call).toMatchObject({
      protocol: era === "legacy" ? "2025-11-25" : "2026-07-28",
      client: { name: expect.any(String), version: "1" },
      bytesIn: expect.any(Number),
      bytesOut: expect.any(Number),
      callId: expect.any(String),
    });
    expect(JSON.stringify(records)).not.toContain("sentinel");
    expect(JSON.stringify(records)).not.toContain("secret");
  });

  it("hold nested calls, whose parent is the request", async () => {
    const records = await observe(transport, [["tools/call", { name: "outer" }]]);
    const end = records.filter(isEnd).find(({ method }) => method === "tools/call");
    const nested = records.filter(({ type }) => type === "call-start" || type === "call-end");
    expect(nested).toMatchObject([
      { type: "call-start", parent: end?.id, id: `${end?.callId}.1`, operation: { id: "inner", mutates: false } },
      { type: "call-end", parent: end?.id, outcome: "ok", ms: expect.any(Number), bytesOut: 10 },
    ]);
  });
});

describe("an observer", () => {
  it("is not called any more when it was removed", async () => {
    const { app, records } = createObservedApp();
    const more: Observation[] = [];
    const stop = app.observe({ record: (record) => void more.push(record) });
    const [transport] = networkTransports;
    const open = await transport?.open(app, undefined);
    await open?.ask("tools/list", {});
    stop();
    stop();
    const before = more.length;
    await open?.ask("tools/list", {});
    await open?.close();
    expect([more.length, before > 0, records.length > before]).toEqual([before, true, true]);
  });
});
