import { describe, expect, it } from "vitest";
import { z } from "zod";
import { authorise } from "../../src/call/authorise.ts";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import { toGuard } from "../../src/catalog/entry-scopes.ts";
import type { ScopeOptions } from "../../src/tags/scopes.ts";
import { ada, shortOf, toolsOf } from "./nesting-support.ts";

const read = "probe:read";
const has = (...scopes: readonly string[]): Caller => ({ ...ada, scopes });
const mayDo = (resources: Readonly<Record<string, readonly string[]>>): Caller => ({ ...ada, resources });

/** What a caller lacks of what reads and asks for this besides. */
function lackOf(caller: Caller, options: ScopeOptions): unknown {
  return authorise(caller, toGuard(read, options));
}

const nothingHelps = { scopes: undefined };

describe("authorise()", () => {
  it("authorise() requires the default scope of known callers, and nothing of anonymous ones", () => {
    expect(lackOf(has(read), {})).toBeUndefined();
    expect(lackOf(has(), {})).toEqual({ scopes: [read] });
    expect(lackOf(anonymous, {})).toBeUndefined();
  });

  it("authorise() requires the author's scopes of every caller, besides the default ones", () => {
    expect(lackOf(has(read, "a", "b"), { scopes: ["a", "b"] })).toBeUndefined();
    expect(lackOf(has(read, "a"), { scopes: ["a", "b"] })).toEqual({ scopes: [read, "a", "b"] });
    expect(lackOf(anonymous, { scopes: ["a"] })).toEqual(nothingHelps);
    expect(lackOf({ ...anonymous, scopes: ["a"] }, { scopes: ["a"] })).toBeUndefined();
  });

  it("authorise() requires the default scope of a tool that calls for an anonymous caller, and no consent helps", () => {
    const byTool = (...scopes: readonly string[]): Caller => ({ ...anonymous, isTool: true, scopes });
    expect(lackOf(byTool(), {})).toEqual(nothingHelps);
    expect(lackOf(byTool(read), {})).toBeUndefined();
    expect(lackOf(byTool("a"), { scopes: ["a"] })).toEqual(nothingHelps);
    expect(lackOf(byTool(read, "a"), { scopes: ["a"] })).toBeUndefined();
  });

  it("authorise() accepts any one of scopesAny, and names the first when all are missing", () => {
    const options = { scopesAny: ["a", "b"] };
    expect([lackOf(has(read, "a"), options), lackOf(has(read, "b"), options)]).toEqual([undefined, undefined]);
    expect(lackOf(has(read), options)).toEqual({ scopes: [read, "a"] });
    expect(lackOf(has("b"), options)).toEqual({ scopes: [read] });
    expect(lackOf(anonymous, options)).toEqual(nothingHelps);
    expect(lackOf({ ...anonymous, scopes: ["b"] }, options)).toBeUndefined();
  });

  it.each<readonly [string, Caller, boolean]>([
    ["one thing of the type", mayDo({ "repo:website": ["write"] }), true],
    ["all of the type", mayDo({ "repo:*": ["read", "write"] }), true],
    ["another action", mayDo({ "repo:*": ["read"] }), false],
    ["another type", mayDo({ "repos:*": ["write"], "rep:*": ["write"], repo: ["write"] }), false],
    ["nothing", ada, false],
    ["what it inherits", mayDo(Object.create({ "repo:*": ["write"] })), false],
  ])("authorise() allows an action on a type to a caller with the right to %s", (_what, caller, isGranted) => {
    const resource = { type: "repo", action: "write" };
    expect(lackOf(caller, { resource })).toEqual(isGranted ? undefined : nothingHelps);
  });

  it("authorise() names no scopes when a consent would not be enough", () => {
    expect(lackOf(has(), { scopes: ["a"], resource: { type: "repo", action: "write" } })).toEqual(nothingHelps);
  });
});

describe("a tool that requires a right to the resource in an argument", () => {
  const resource = { type: "repo", action: "write", argument: "repo" };
  const push = (more: Partial<AnyBespokeTool> = {}): AnyBespokeTool => ({
    input: z.object({ repo: z.string().optional(), n: z.number().optional() }),
    resource,
    handler: () => "ok",
    ...more,
  });
  const answer = async (
    tool: AnyBespokeTool,
    caller: Caller,
    args: Record<string, string | number>,
  ): Promise<unknown> => shortOf(await toolsOf({ push: tool }).call("push", args, { caller }));
  const website = mayDo({ "repo:website": ["write"] });
  const ok = { value: "ok" };

  it("runs for resources that the caller may act on, and refuses all others alike", async () => {
    expect(await answer(push(), website, { repo: "website" })).toEqual(ok);
    expect(await answer(push(), website, { repo: "secrets" })).toBe("NOT_FOUND");
    expect(await answer(push(), website, { repo: "*" })).toBe("NOT_FOUND");
    expect(await answer(push(), website, { repo: "__proto__" })).toBe("NOT_FOUND");
    expect(await answer(push(), mayDo({ "repo:*": ["write"] }), { repo: "secrets" })).toEqual(ok);
    expect(await answer(push(), mayDo({ "repo:website": ["read"], "repo:a": ["write"] }), { repo: "website" })).toBe(
      "NOT_FOUND",
    );
  });

  it("requires the right to all resources for a call without the argument", async () => {
    expect(await answer(push(), website, {})).toBe("NOT_FOUND");
    expect(await answer(push(), mayDo({ "repo:*": ["write"] }), {})).toEqual(ok);
  });

  it("checks the argument before and after its schema transforms it", async () => {
    const low = push({ input: z.object({ repo: z.string().toLowerCase() }) });
    expect(await answer(low, website, { repo: "website" })).toEqual(ok);
    expect(await answer(low, website, { repo: "WEBSITE" })).toBe("NOT_FOUND");
    expect(await answer(low, mayDo({ "repo:WEBSITE": ["write"] }), { repo: "WEBSITE" })).toBe("NOT_FOUND");
    const renamed = push({ input: z.object({ repo: z.string() }).transform(({ repo }) => ({ name: repo })) });
    expect(await answer(renamed, website, { repo: "website" })).toBe("NOT_FOUND");
  });

  it("checks the default value for a missing argument", async () => {
    const preset = push({ input: z.object({ repo: z.string().default("website") }) });
    expect(await answer(preset, website, {})).toEqual(ok);
    expect(await answer(preset, mayDo({ "repo:other": ["write"] }), {})).toBe("NOT_FOUND");
  });

  it("understands a number, and a value that is all of its input", async () => {
    const numbered = push({ resource: { ...resource, argument: "n" } });
    expect(await answer(numbered, mayDo({ "repo:7": ["write"] }), { n: 7 })).toEqual(ok);
    expect(await answer(numbered, mayDo({ "repo:7": ["write"] }), { n: 8 })).toBe("NOT_FOUND");
    const single = push({ input: z.string(), resource: { ...resource, argument: "value" } });
    expect(await answer(single, website, { value: "website" })).toEqual(ok);
    expect(await answer(single, website, { value: "other" })).toBe("NOT_FOUND");
  });

  it("neither runs its handler nor reveals the resource when it refuses", async () => {
    let runs = 0;
    const tools = toolsOf({ push: push({ handler: () => (runs += 1) }) });
    const outcome = await tools.call("push", { repo: "secrets" }, { caller: website });
    expect(outcome).toMatchObject({ kind: "refused", details: undefined, issues: [] });
    expect(JSON.stringify(outcome)).not.toContain("secrets");
    expect(runs).toBe(0);
  });

  it("is a boot error when it takes no such argument", () => {
    const wrong = push({ resource: { ...resource, argument: "repository" } });
    expect(() => toolsOf({ push: wrong })).toThrow(
      'Cannot add tool "push": its "resource" is named by the argument "repository", which its input does not have',
    );
  });
});

describe("canCall and callScopes of a tool", () => {
  it.each<readonly [string, object, string]>([
    ["a reach that is no list", { canCall: "a" }, '"canCall" must be'],
    ["an empty pattern", { canCall: [""] }, '"canCall" must be'],
    ["a hole", { canCall: Array.from({ length: 1 }) }, '"canCall" must be'],
    ["a pattern that is too long", { canCall: ["a".repeat(257)] }, '"canCall" must be'],
    ["an authority that no token could carry", { callScopes: ["a b"] }, '"callScopes" must be'],
  ])("is a boot error when it is %s", (_what, more, sentence) => {
    expect(() => toolsOf({ push: { handler: () => 1, ...more } })).toThrow(`Cannot add tool "push": ${sentence}`);
  });

  it("is kept as it was when its author changes it later", () => {
    const canCall = ["a"];
    const callScopes = ["x"];
    const tools = toolsOf({ push: { canCall, callScopes, handler: () => 1 } });
    canCall.push("b");
    callScopes.push("y");
    expect(tools.entry("push")).toMatchObject({ canCall: ["a"], callScopes: ["x"] });
  });
});
