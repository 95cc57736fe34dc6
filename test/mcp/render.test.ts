import { describe, expect, it } from "vitest";
import type { ErrorResult } from "../../src/catalog/outcome.ts";
import { toRpcError, toRpcResult } from "../../src/mcp/protocol.ts";
import { createAnswerRenderer } from "../../src/mcp/protocol.ts";
import { refusalData, refusalText } from "../../src/mcp/render-result.ts";

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

  it("writes icons and website of the server only into the answer about the server", () => {
    const icons = [{ src: "data:image/png;base64,AA==" }];
    const all = { ...info, title: "A server", websiteUrl: "https://a.example", description: "Serves", icons };
    const renderAll = createAnswerRenderer(all);
    const short = { ...info, title: "A server" };
    const resultOf = (line: string): unknown => JSON.parse(line).result;
    const stampOf = (server: object): object => ({
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/serverInfo": server },
    });
    expect(resultOf(renderAll(1, toRpcResult(""), "modern"))).toEqual(stampOf(short));
    expect(resultOf(renderAll(1, toRpcResult("", { introduces: true }), "modern"))).toEqual(stampOf(all));
  });

  it.each(["legacy", "modern"] as const)("writes an error in the %s era, with data where there is some", (era) => {
    expect(render(null, toRpcError(-32600, "no"), era)).toBe(
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}',
    );
    expect(JSON.parse(render(1, toRpcError(-1, "no", { a: 1 }), era)).error.data).toEqual({ a: 1 });
  });

  it("writes errors with half a character as well-formed JSON", () => {
    expect(render(1, toRpcError(-1, "a\ud83d", { b: "\ude00" }), "modern")).toBe(
      String.raw`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"a\ufffd","data":{"b":"\ufffd"}}}`,
    );
  });

  it("writes one line for ids with line breaks and lone surrogates", () => {
    const line = render("\n\u2028\ud800", toRpcResult(""), "modern");
    expect(line).not.toContain("\n");
    expect(line).toContain("\\ud800");
  });
});

const refused: ErrorResult = {
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

  it.each(["x", "é", "…", "😀", "a😀"])(
    "holds at most 2,048 bytes and whole characters when it is full of %s",
    (unit) => {
      const text = refusalText({ ...refused, message: unit.repeat(10_000) });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2048);
      expect(Buffer.byteLength(text)).toBeGreaterThan(2048 - 4);
      expect(text).toMatch(/^TOO_HOT: .*…$/u);
      expect(text).not.toContain("\ufffd");
    },
  );

  it("is whole when it has 2,048 bytes", () => {
    const message = "é".repeat((2048 - "TOO_HOT: ".length - 1) / 2) + "x";
    expect(refusalText({ ...refused, message })).toBe(`TOO_HOT: ${message}`);
  });
});

describe("refusalData()", () => {
  it("leaves out undefined members", () => {
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
