import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { kDefinition, type AppDefinition } from "../../src/builder/app-definition.ts";
import { mcp } from "../../src/builder/mcp.ts";
import { assembleApp } from "../../src/builder/assemble-app.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { thrownBy } from "../catalog/support.ts";
import { cast } from "../tags/support.ts";
import { deadLink } from "./support.ts";

const surface = defineSurface("both", {
  state: mcpResource(cell({ schema: z.number() })),
  rows: cell({ schema: z.number() }),
  run: mcpTool(procedure({})),
});
const app = mcp(surface).bridge(deadLink());
const prompt = { handler: () => "a" };
const resource = { read: () => 1 };

const opened: AppRuntime[] = [];
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.close();
});

const definitionOf = (made: { readonly [kDefinition]: AppDefinition }): AppDefinition => made[kDefinition];

/** A stage as one who casts sees it. */
interface AnyStage {
  prompts(more: object): AnyStage;
  resources(more: object): AnyStage;
  expose(more: object): AnyStage;
}
// Every stage is one class: what its type hides is there.
const anyStage = (stage: unknown): AnyStage => stage as AnyStage;

describe("prompts() and resources()", () => {
  it("each step returns a new app and does not change the one before", () => {
    const more = app.prompts({ a: prompt }).resources({ b: resource });
    expect([...definitionOf(more).prompts.keys(), ...definitionOf(more).resources.keys()]).toEqual(["a", "b"]);
    expect(definitionOf(app).prompts.size + definitionOf(app).resources.size).toBe(0);
  });

  it("undefined members are ignored", () => {
    const more = app.prompts({ b: prompt, ...cast(Object, { a: undefined }) });
    expect([...definitionOf(more).prompts.keys()]).toEqual(["b"]);
  });

  it.each<[string, () => unknown, string, string]>([
    [
      "a prompt twice",
      () => anyStage(app).prompts({ a: prompt }).prompts({ a: prompt }),
      "NAME_COLLISION",
      'prompt "a"',
    ],
    [
      "two prompts of one name on the wire",
      () => anyStage(app).prompts({ "a.b": prompt }).prompts({ a_b: prompt }),
      "NAME_COLLISION",
      'Cannot name prompt "a_b": the wire name "a_b" is taken by prompt "a.b"',
    ],
    [
      "a resource twice",
      () => anyStage(app).resources({ a: resource }).resources({ a: resource }),
      "NAME_COLLISION",
      'resource "a"',
    ],
    ["a tagged member", () => anyStage(app).resources({ state: resource }), "NAME_COLLISION", 'taken by cell "state"'],
    [
      "an exposed member",
      () => anyStage(app).expose({ rows: "resource" }).resources({ rows: resource }),
      "NAME_COLLISION",
      'taken by cell "rows"',
    ],
    [
      "a member that is exposed later",
      () => anyStage(app).resources({ rows: resource }).expose({ rows: "resource" }),
      "NAME_COLLISION",
      'Cannot name resource "rows": its key is taken by cell "rows"',
    ],
    ["a prompt without a handler", () => anyStage(app).prompts({ a: {} }), "MISSING_HANDLER", 'prompt "a"'],
    [
      "a prompt whose input is none",
      () => anyStage(app).prompts({ a: { ...prompt, input: 1 } }),
      "INVALID_OPTION",
      "Standard Schema",
    ],
    [
      "a prompt whose name no host takes",
      () => anyStage(app).prompts({ "a b": prompt }),
      "INVALID_NAME",
      "letters, digits",
    ],
    ["a resource without read", () => anyStage(app).resources({ a: {} }), "MISSING_HANDLER", 'resource "a"'],
    [
      "a resource whose key is none",
      () => anyStage(app).resources({ "a b": resource }),
      "INVALID_NAME",
      "its key must be",
    ],
    ["prompts without a link", () => anyStage(mcp(surface)).prompts({ a: prompt }), "NOT_LINKED", "prompts()"],
    ["resources without a link", () => anyStage(mcp(surface)).resources({ a: resource }), "NOT_LINKED", "resources()"],
  ])("%s is refused where it is added", (...[, make, code, words]) => {
    const cause = thrownBy(make);
    expect(cause).toMatchObject({ code });
    expect((cause as Error).message).toContain(words);
  });

  it("tools, prompts and members may share a name: they are never in one list", () => {
    const more = app.tools({ a: { handler: () => 1 } }).prompts({ a: prompt, run: prompt, state: prompt });
    expect(() => more.resources({ a: resource, run: resource, rows: resource })).not.toThrow();
  });

  it("an open app declares the logging capability if a handler can write to the client's log", () => {
    const logs = (made: { readonly [kDefinition]: AppDefinition }): boolean => {
      const runtime = assembleApp(definitionOf(made));
      opened.push(runtime);
      return runtime.logs;
    };
    expect([app, app.prompts({ a: prompt }), app.resources({ a: resource })].map(logs)).toEqual([false, true, true]);
  });

  it("an open app has all of its author's server information", () => {
    const words = { description: "D", websiteUrl: "https://a.test", icons: [{ src: "https://a.test/i" }] };
    const runtime = assembleApp(definitionOf(mcp(surface, words).bridge(deadLink())));
    opened.push(runtime);
    expect(runtime.info).toEqual({ name: "both", version: "0.0.0", ...words });
  });
});
