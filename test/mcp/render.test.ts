import { describe, expect, it } from "vitest";
import type { Refused } from "../../src/call/outcome.ts";
import { toRpcError, toRpcResult } from "../../src/mcp/protocol.ts";
import { createAnswerRenderer } from "../../src/mcp/render-answer.ts";
import { refusalData, refusalText } from "../../src/mcp/render-refusal.ts";

const info = { name: 'a "server"', version: "1" };
const render = createAnswerRenderer(info);
const stamp = { "io.modelcontextprotocol/serverInfo": info };

describe("createAnswerRenderer()", () => {
  it.each([
    [toRpcResult(""), {}],
    [toRpcResult('"a":1'), { a: 1 }],
    [toRpcResult('"a":1', { meta: '"m":2' }), { a: 1, _meta: { m: 2 } }],
    [toRpcResult("", { meta: '"m":2', cacheable: true }), { _meta: { m: 2 } }],
  ])("writes a legacy result without stamps: %j", (answer, result) => {
    expect(JSON.parse(render("id", answer, "legacy"))).toEqual({ jsonrpc: "2.0", id: "id", result });
  });

  it.each([
    [toRpcResult(""), { resultType: "complete", _meta: stamp }],
    [toRpcResult('"a":1', { meta: '"m":2' }), { a: 1, resultType: "complete", _meta: { ...stamp, m: 2 } }],
    [
      toRpcResult('"a":1', { cacheable: true }),
      { a: 1, resultType: "complete", ttlMs: 0, cacheScope: "private", _meta: stamp },
    ],
  ])("writes a modern result with stamps: %j", (answer, result) => {
    expect(JSON.parse(render(1, answer, "modern"))).toEqual({ jsonrpc: "2.0", id: 1, result });
  });

  it.each(["legacy", "modern"] as const)("writes an error in the %s era, with data where there is some", (era) => {
    expect(render(null, toRpcError(-32600, "no"), era)).toBe(
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}',
    );
    expect(JSON.parse(render(1, toRpcError(-1, "no", { a: 1 }), era)).error.data).toEqual({ a: 1 });
  });

  it("writes one line for ids with line breaks and lone surrogates", () => {
    const line = render("\n\u2028\ud800", toRpcResult(""), "modern");
    expect(line).not.toContain("\n");
    expect(line).toContain("\\ud800");
  });
});

const refused: Refused = {
  kind: "refused",
  code: "TOO_HOT",
  message: "it is too hot",
  issues: [],
  details: undefined,
  correlationId: undefined,
};

describe("refusalText()", () => {
  it("says the code and the sentence", () => {
    expect(refusalText(refused)).toBe("TOO_HOT: it is too hot");
  });

  it("holds at most 2,048 characters", () => {
    expect(refusalText({ ...refused, message: "x".repeat(10_000) })).toHaveLength(2048);
  });
});

describe("refusalData()", () => {
  it("leaves out what there is not", () => {
    expect(refusalData(refused)).toEqual({ code: "TOO_HOT", message: "it is too hot" });
  });

  it("carries the author's details, issues and the correlation id", () => {
    const issues = [{ path: "a", message: "no" }];
    expect(refusalData({ ...refused, issues, details: { degrees: 5 }, correlationId: "c" })).toEqual({
      code: "TOO_HOT",
      message: "it is too hot",
      issues,
      details: { degrees: 5 },
      correlationId: "c",
    });
  });
});
