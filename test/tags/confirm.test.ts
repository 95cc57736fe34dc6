import { describe, expect, it } from "vitest";
import { pickOptions } from "../../src/options/read-options.ts";
import { confirmOption, freezeConfirm, toConfirmRule } from "../../src/tags/confirm.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { tagOf } from "../../src/tags/tag-of.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { cast, expectRefusal } from "./support.ts";

describe("the option confirm of a tool", () => {
  it.each([
    [undefined, undefined],
    [true, "refuse"],
    [false, "never"],
    [{}, "refuse"],
    [{ otherwise: "refuse" }, "refuse"],
    [{ otherwise: "allow" }, "allow"],
    [{ type: "CLOSE it-now" }, "refuse"],
    [{ type: "CLOSE", otherwise: "allow" }, "allow"],
  ] as const)("toConfirmRule() keeps %j as %j", (confirm, rule) => {
    expect(toConfirmRule(confirm)).toBe(rule);
    expect(() => pickOptions({ confirm }, { confirm: confirmOption }, "Trying")).not.toThrow();
  });

  it.each([
    ["yes"],
    [1],
    [null],
    [[]],
    [{ otherwise: "maybe" }],
    [{ otherwize: "allow" }],
    [{ type: "" }],
    [{ type: 1 }],
    [{ type: "a\u202eb" }],
    [{ type: "x".repeat(65) }],
  ])("mcpTool() refuses %j", (confirm) => {
    expectRefusal(() => cast(mcpTool, procedure({}), { confirm }), "INVALID_OPTION", '"confirm" must be');
  });

  it("mcpTool() keeps its own copy when theirs is changed afterwards", () => {
    const confirm: { otherwise: "refuse" | "allow" } = { otherwise: "refuse" };
    const tool = mcpTool(procedure({}), { confirm });
    confirm.otherwise = "allow";
    expect(tagOf(tool).options.confirm).toEqual({ otherwise: "refuse" });
    expect(freezeConfirm({})).toEqual({});
  });

  it("mcpTool() accepts it for a tool that only reads", () => {
    expect(tagOf(mcpTool(readOnly(procedure({})), { confirm: true })).options).toEqual({ confirm: true });
  });
});
