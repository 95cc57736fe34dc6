import { describe, expect, it } from "vitest";
import type { BadInput, Expectation } from "./bad-input.ts";
import { judge, type Observed } from "./judge.ts";

const frame = (message: object) => ({ message: { jsonrpc: "2.0", ...message }, line: JSON.stringify(message) });
const ok = frame({ id: 1, result: {} });
const failed = frame({ id: 1, result: { isError: true } });
const invalid = frame({ id: 1, error: { code: -32602 } });
const ack = frame({
  method: "notifications/subscriptions/acknowledged",
  params: { notifications: { resourceSubscriptions: ["app://state"] } },
});
const calm: Observed = {
  frames: [],
  noise: [],
  stderr: "",
  marks: [],
  alive: true,
  elapsedMs: 1,
  peakRssMB: 1,
  exit: undefined,
};

function verdict(wanted: Expectation, seen: Partial<Observed>): number {
  const input = { lines: ['{"jsonrpc":"2.0","id":1,"method":"x"}'] };
  const badInput: BadInput = { id: "", transport: "stdio", precondition: "modern", input, expect: wanted };
  return judge(badInput, { ...calm, ...seen }).length;
}

describe("judge()", () => {
  it.each<[string, Expectation, Partial<Observed>]>([
    ["another code", { rpc: -32600 }, { frames: [invalid] }],
    ["a refusal for a result", { rpc: "result" }, { frames: [failed] }],
    ["no answer", { rpc: -32602 }, {}],
    ["two answers", { rpc: -32602 }, { frames: [invalid, invalid] }],
    ["an answer where none is owed", { rpc: "none" }, { frames: [ok] }],
    ["none of the allowed", { rpcAnyOf: [-32600, "close"] }, { frames: [invalid] }],
    ["one answer too few", { rpcSeq: ["result", "result"] }, { frames: [ok] }],
    ["a dead server", { alive: true }, { alive: false }],
    ["a slow one", { maxMs: 100 }, { elapsedMs: 1001 }],
    ["a fat one", { maxRssMB: 100 }, { peakRssMB: 101 }],
    ["a talkative one", { maxResponseKB: 0.001 }, { frames: [ok] }],
    ["another exit code", { exit: 0 }, { exit: 1 }],
    ["no exit", { exit: "any" }, { exit: "running" }],
    ["a side effect", { sideEffect: "wipe must not run" }, { marks: [["wipe", null]] }],
    ["another mark", { marks: [] }, { marks: [["log", "x"]] }],
    ["text on stdout", {}, { noise: ["hello"] }],
    ["a leak", {}, { frames: [frame({ id: 1, result: { text: "secret-token" } })] }],
    ["a crash", {}, { stderr: "Uncaught Error" }],
    ["other URIs acknowledged", { rpc: "ack", ackUris: [] }, { frames: [ack] }],
    ["a change for an answer", { rpc: "result" }, { frames: [frame({ method: "notifications/resources/updated" })] }],
    ["an id of nobody", {}, { frames: [frame({ id: "1", result: {} })] }],
    ["a null id where one was sent", {}, { frames: [frame({ id: null, error: { code: -32600 } })] }],
  ])("judge() objects to %s", (_what, wanted, seen) => {
    expect(verdict(wanted, seen)).toBe(1);
  });

  it.each<[string, Expectation, Partial<Observed>]>([
    ["the code", { rpc: -32602 }, { frames: [invalid] }],
    ["one of the allowed", { rpcAnyOf: ["none", "toolError"] }, { frames: [failed] }],
    ["the URIs that were to be acknowledged", { rpc: "ack", ackUris: ["app://state"] }, { frames: [ack] }],
    ["silence", { rpc: "none", alive: true }, {}],
    ["the answers in another order", { rpcSeq: ["result", -32602] }, { frames: [invalid, ok] }],
    ["the end", { rpcAnyOf: ["close"], exit: 0 }, { exit: 0 }],
  ])("judge() lets %s pass", (_what, wanted, seen) => {
    expect(verdict(wanted, seen)).toBe(0);
  });
});
