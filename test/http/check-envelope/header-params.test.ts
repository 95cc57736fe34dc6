import { describe, expect, it } from "vitest";
import { headerParamsOf } from "../../../src/http/check-envelope.ts";

describe("tool arguments that headers mirror", () => {
  it("are scalars under properties, at any depth", () => {
    const input = {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        limits: { type: "object", properties: { max: { type: "integer", "x-mcp-header": "Limit-Max" } } },
        plain: { type: "string" },
      },
    };
    expect(headerParamsOf(input)).toEqual([
      { header: "mcp-param-region", path: ["region"], isNumeric: false },
      { header: "mcp-param-limit-max", path: ["limits", "max"], isNumeric: true },
    ]);
    expect(headerParamsOf(input)).toBe(headerParamsOf(input));
  });

  it.each<[string, object]>([
    ["no text", { type: "string", "x-mcp-header": 1 }],
    ["empty", { type: "string", "x-mcp-header": "" }],
    ["no token", { type: "string", "x-mcp-header": "a b" }],
    ["on an object", { type: "object", "x-mcp-header": "A" }],
    ["on no type", { "x-mcp-header": "A" }],
    ["on what is in a list", { type: "array", items: { type: "string", "x-mcp-header": "A" } }],
  ])("are none where the flag is %s", (_what, property) => {
    expect(headerParamsOf({ type: "object", properties: { property: { ...property } } })).toEqual([]);
  });

  it("are none where the flag is on all arguments together", () => {
    expect(headerParamsOf({ type: "object", "x-mcp-header": "A" })).toEqual([]);
  });
});
