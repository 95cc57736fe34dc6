import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readExposeMap } from "../../src/catalog/read-exposures.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { scopeFields, scopeFieldsWithoutArgument, freezeScopes, type ScopeOptions } from "../../src/tags/scopes.ts";
import { readOptions } from "../../src/options/read-options.ts";
import { tagOf } from "../../src/tags/tag-of.ts";
import { catalogOf, surfaceOf } from "../catalog/support.ts";
import { cast, expectRefusal } from "./support.ts";

const run = procedure({});
const state = cell({ schema: z.number() });
const handler = (): string => "done";

/** Every function with an option for scopes. */
const places: Readonly<Record<string, (scopes: unknown) => unknown>> = {
  "mcpTool()": (scopes) => cast(mcpTool, run, { scopes }),
  "mcpResource()": (scopes) => cast(mcpResource, state, { scopes }),
  "expose()": (scopes) => cast(readExposeMap, surfaceOf({ run }), { run: { tool: { scopes } } }),
  "a bespoke tool": (scopes) => cast(catalogOf, {}, { tools: { probe: { scopes, handler } } }),
  "a prompt": (scopes) => cast(catalogOf, {}, { prompts: { probe: { scopes, handler } } }),
  "a hand-written resource": (scopes) => cast(catalogOf, {}, { resources: { probe: { scopes, read: handler } } }),
};

const refused: readonly (readonly [what: string, scopes: unknown])[] = [
  ["a text", "admin"],
  ["an empty scope", [""]],
  ["a scope with a space", ["a b"]],
  ["a scope with a quote", ['a"b']],
  ["a scope with a backslash", ["a\\b"]],
  ["a scope with a line break", ["a\nb"]],
  ["a scope that is not ASCII", ["ä"]],
  ["a scope that is too long", ["a".repeat(129)]],
  ["a number", [1]],
  // oxlint-disable-next-line no-sparse-arrays -- the test needs a hole
  ["a hole", ["a", , "b"]],
  ["too many", Array.from({ length: 17 }, (_, index) => `s${index}`)],
  ["null", null],
  ["an object like a list", { 0: "a", length: 1 }],
];

describe("scopes", () => {
  for (const [place, say] of Object.entries(places)) {
    it.each(refused)(`${place} refuses %s as scopes`, (_what, scopes) => {
      expectRefusal(() => say(scopes), "INVALID_OPTION", '"scopes" must be a list of at most 16 scopes');
    });

    it(`${place} takes the longest and the most scopes`, () => {
      const scopes = Array.from({ length: 16 }, (_, index) => `${index}!#[]~`.padEnd(128, "x"));
      expect(() => say(scopes)).not.toThrow();
      expect(() => say([])).not.toThrow();
    });
  }

  it("tags keep their own copy when the author changes the list", () => {
    const scopes = ["admin"];
    const tool = cast(mcpTool, run, { scopes });
    const resource = cast(mcpResource, state, { scopes });
    const [exposed] = cast(readExposeMap, surfaceOf({ run }), { run: { tool: { scopes } } });
    scopes[0] = "not a scope";
    scopes.push("more");
    const kept = [tagOf(tool), tagOf(resource), exposed].map((each) => each?.options.scopes);
    expect(kept).toEqual([["admin"], ["admin"], ["admin"]]);
    expect(kept.every((each) => Object.isFrozen(each))).toBe(true);
  });

  it.each(["maybe", "", null, true])("mcpTool() refuses %j for onDisconnect", (onDisconnect) => {
    expectRefusal(() => cast(mcpTool, run, { onDisconnect }), "INVALID_OPTION", '"onDisconnect" must be');
  });
});

describe("the requirements of an entry", () => {
  const resource = { type: "repo", action: "write" };

  it.each<readonly [string, object]>([
    ["several of which one is enough", { scopesAny: ["a", "b"] }],
    ["a thing of a type", { resource }],
    ["a thing that an argument names", { resource: { ...resource, argument: "repo" } }],
  ])("take %s", (_what, options) => {
    expect(() => readOptions(options as ScopeOptions, scopeFields, "Adding it")).not.toThrow();
  });

  it.each<readonly [string, object, string]>([
    ["none of which one is enough", { scopesAny: [] }, '"scopesAny" must be a list of 1 to 16 scopes'],
    ["a scope that no token could carry", { scopesAny: ["a b"] }, '"scopesAny" must be a list'],
    ["a text for a thing", { resource: "repo:write" }, '"resource" must be an object with "type", "action"'],
    ["nothing for a thing", { resource: null }, '"resource" must be an object with "type", "action"'],
    ["an unknown field", { resource: { ...resource, id: "a" } }, '"resource": "id" is not an option'],
    ["a type with a colon", { resource: { ...resource, type: "a:b" } }, '"resource.type" must be'],
    ["no type", { resource: { action: "write" } }, '"resource.type" must be'],
    ["no action", { resource: { type: "repo" } }, '"resource.action" must be'],
    ["an argument without a name", { resource: { ...resource, argument: "" } }, '"resource.argument" must be'],
  ])("refuse %s and name it", (_what, options, sentence) => {
    expect(() => readOptions(options as ScopeOptions, scopeFields, "Adding it")).toThrow(`Adding it: ${sentence}`);
  });

  it("refuse an argument for an entry without arguments", () => {
    const named = { resource: { ...resource, argument: "repo" } };
    expect(() => readOptions(named, scopeFieldsWithoutArgument, "Adding it")).toThrow(
      '"resource" must have no "argument"',
    );
    expect(() => readOptions({ resource }, scopeFieldsWithoutArgument, "Adding it")).not.toThrow();
  });

  it("freezeScopes() keeps frozen copies", () => {
    const scopesAny = ["a"];
    const kept = freezeScopes({ scopesAny, resource });
    scopesAny.push("b");
    expect(kept).toEqual({ scopesAny: ["a"], resource });
    expect(Object.isFrozen(kept.scopesAny) && Object.isFrozen(kept.resource)).toBe(true);
  });
});
