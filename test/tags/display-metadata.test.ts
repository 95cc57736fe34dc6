import { describe, expect, it } from "vitest";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { isMimeType } from "../../src/tags/display-metadata.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { tagOf } from "../../src/tags/tag-of.ts";
import { z } from "zod";
import { cast, expectRefusal } from "./support.ts";

const state = cell({ schema: z.number() });
const icon = { src: "https://a.test/i.png" };
const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;

describe("display metadata", () => {
  it("a tag keeps frozen copies of icons and meta when its author changes the objects", () => {
    const icons = [{ ...icon, sizes: ["48x48", "any"], theme: "dark" as const, mimeType: "image/png" }];
    const meta = { "anthropic/maxResultSizeChars": 5, nested: { list: [1] } };
    const tagged = [mcpTool(procedure({}), { icons, meta }), mcpResource(state, { icons, meta })];
    meta.nested.list.push(2);
    icons.pop();
    for (const { options } of tagged.map((each) => tagOf(each))) {
      expect(options.icons).toEqual([{ ...icon, sizes: ["48x48", "any"], theme: "dark", mimeType: "image/png" }]);
      expect(options.meta).toEqual({ "anthropic/maxResultSizeChars": 5, nested: { list: [1] } });
      expect([options.icons, options.icons?.[0], options.meta, options.meta?.["nested"]].every(Object.isFrozen)).toBe(
        true,
      );
    }
  });

  it.each<[string, unknown, string]>([
    ["no list", icon, '"icons" must be a list of at most 16 icons'],
    ["too many", Array.from({ length: 17 }, () => icon), '"icons" must be a list of at most 16 icons'],
    ["one over http", [{ src: "http://a.test/i.png" }], '"icons.0.src" must be an https: or data: URI'],
    ["one that is a script", [{ src: "javascript:alert(1)" }], '"icons.0.src" must be'],
    ["one with a blank", [{ src: "https://a.test/i .png" }], '"icons.0.src" must be'],
    ["one that is too long", [{ src: `data:${"x".repeat(65_536)}` }], '"icons.0.src" must be'],
    ["one without a source", [{}], '"icons.0.src" must be'],
    ["one that is null", [null], '"icons.0" must be an object'],
    ["one with a key too many", [{ ...icon, nope: 1 }], '"icons.0": "nope" is not an option'],
    ["one of a wrong type", [{ ...icon, mimeType: "png" }], '"icons.0.mimeType" must be'],
    ["one of a wrong size", [icon, { ...icon, sizes: ["any", "48"] }], '"icons.1.sizes.1" must be'],
    ["one of a wrong theme", [{ ...icon, theme: "blue" }], '"icons.0.theme" must be'],
  ])("every tag refuses icons with %s", (_what, icons, sentence) => {
    expectRefusal(() => cast(mcpTool, procedure({}), { icons }), "INVALID_OPTION", sentence);
    expectRefusal(() => cast(mcpResource, state, { icons }), "INVALID_OPTION", sentence);
  });

  it.each<[string, unknown, string]>([
    ["no object", [1], "must be a JSON object"],
    ["null", null, "must be a JSON object"],
    ["no JSON", cyclic, "must be a JSON object"],
    ["a number that JSON has not", { a: 1n }, "must be a JSON object"],
    ["too large", { a: "x".repeat(16_384) }, "at most 16384 characters"],
    ["an empty key", { "": 1 }, 'has the key ""'],
    ["a key with a blank", { "a b": 1 }, 'has the key "a b"'],
    ["a prefix that is none", { "a_b/c": 1 }, 'has the key "a_b/c"'],
    ["the protocol's prefix", { "io.modelcontextprotocol/a": 1 }, "not yours to set"],
    ["the protocol's prefix in other letters", { "IO.ModelContextProtocol/a": 1 }, "not yours to set"],
    ["the protocol's label", { "modelcontextprotocol/a": 1 }, "not yours to set"],
    ["another of the protocol's", { "tools.mcp.com/a": 1 }, "not yours to set"],
    ["the prefix of this package", { "surface-mcp/error": 1 }, "not yours to set"],
    ["the token of progress", { progressToken: 1 }, "not yours to set"],
  ])("every tag refuses meta that is or has %s", (_what, meta, sentence) => {
    expectRefusal(() => cast(mcpTool, procedure({}), { meta }), "INVALID_OPTION", sentence);
    expectRefusal(() => cast(mcpResource, state, { meta }), "INVALID_OPTION", sentence);
  });

  it.each(["a", "a.b_c-d", "anthropic/maxResultSizeChars", "com.example/a", "com.example/", "mcpx.example/a"])(
    "meta may have the key %j",
    (key) => {
      expect(() => mcpTool(procedure({}), { meta: { [key]: 1 } })).not.toThrow();
    },
  );

  it.each([
    ["text/plain", true],
    ["text/plain; charset=utf-8", true],
    ["application/vnd.api+json", true],
    ["text", false],
    ["text/", false],
    ["text/plain\n", false],
    ["text/plain;", false],
    ["a/b/c", false],
    [1, false],
    [`a/${"b".repeat(300)}`, false],
  ])("isMimeType(%j) is %s", (text, is) => {
    expect(isMimeType(text)).toBe(is);
  });
});
