import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Catalog, narrowCatalog } from "../../src/catalog/catalog.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { Views } from "../../src/views/views.ts";
import { show, narrowToGrants, type Shown } from "../../src/views/show.ts";
import type { NamedView, NamedViews } from "../../src/views/view-rules.ts";
import { catalogOf } from "../catalog/support.ts";
import { callerBy, sampleCatalog, toolsBy } from "./support.ts";

const catalog = sampleCatalog();

function shownBy(view: NamedView, server?: string): Shown {
  const views = new Views({ v: view }, server === undefined ? {} : { server });
  return show(catalog, views.decide({ surface: "v" }));
}

/** Every name that is left, of each sort. */
function leftOf({ catalog: left }: Shown): readonly string[] {
  const { tools, prompts, resources, templates } = left;
  return [
    ...tools.map(({ name }) => `tool ${name}`),
    ...prompts.map(({ name }) => `prompt ${name}`),
    ...resources.map(({ uri }) => uri),
    ...templates.map(({ uriTemplate }) => uriTemplate),
  ];
}

const everything = [
  "tool deploy",
  "tool node_log",
  "tool node_rerun",
  "tool purge",
  "tool summarise",
  "prompt review",
  "surface://probe/nodes",
  "surface://probe/status",
  "surface://probe/nodes/{key}",
];

function without(...gone: readonly string[]): readonly string[] {
  return everything.filter((name) => !gone.includes(name));
}

describe("toKeep() and showing a view", () => {
  it("shows everything but tools for tools only without patterns", () => {
    const shown = shownBy({});
    expect(leftOf(shown)).toEqual(everything);
    expect(shown.hidden).toEqual([]);
    expect(shown.face).toBe("direct");
  });

  it.each<[string, NamedView, readonly string[]]>([
    ["an empty allow is all", { allow: [] }, everything],
    [
      "only what is allowed",
      { allow: ["node_*", "status"] },
      ["tool node_log", "tool node_rerun", "surface://probe/status"],
    ],
    ["all but what is disallowed", { disallow: ["node.*"] }, without("tool node_log", "tool node_rerun")],
    ["disallow before allow", { allow: ["node_*"], disallow: ["node_log"] }, ["tool node_rerun"]],
    [
      "both entries of a collection",
      { disallow: ["nodes"] },
      without("surface://probe/nodes", "surface://probe/nodes/{key}"),
    ],
    ["a prompt", { disallow: ["review"] }, without("prompt review")],
    ["what reads", { readOnly: true }, without("tool deploy", "tool node_rerun", "tool purge")],
    ["what reads of what is allowed", { readOnly: true, allow: ["node_*"] }, ["tool node_log"]],
    ["a gateway, of what is behind it", { face: "gateway", allow: ["node_*"] }, ["tool node_log", "tool node_rerun"]],
    ["nothing", { disallow: ["*"] }, []],
    ["nothing where nobody gets in", { deny: "no" }, []],
    ["what only tools may call never", { allow: ["inner*"] }, []],
  ])("shows the entries of the patterns: %s (B11)", (_what, view, expected) => {
    expect(leftOf(shownBy(view))).toEqual(expected);
  });

  it.each(["mcp__ci__node_rerun", "mcp__ci__.node_rerun", "ci(node_rerun)"])(
    "a view hides a tool and nothing else when it is spelled %j (B10)",
    (spelled) => {
      expect(leftOf(shownBy({ disallow: [spelled] }, "ci"))).toEqual(without("tool node_rerun"));
      // Resources are no tools of the server's.
      expect(leftOf(shownBy({ disallow: ["mcp__ci__status"] }, "ci"))).toEqual(everything);
    },
  );

  it("a pattern fits a resource exactly when it fits a tool of the same id, when ids, patterns and both lists are drawn", () => {
    const segment = fc.stringMatching(/^[a-c]{1,2}(?:_[a-c])?$/);
    const id = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("."));
    const piece = fc.constantFrom("a", "b", "c", "_", ".", "*", "?", "aa");
    const drawn = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(""));
    const cases = fc.tuple(id, drawn, fc.boolean()).chain(([key, text, isWire]) => {
      // Half of the patterns are made of the id, so that many of them fit.
      const name = isWire ? key.replaceAll(".", "_") : key;
      const own = fc.nat(name.length).map((at) => `${name.slice(0, at)}*`);
      return fc.tuple(fc.constant(key), fc.oneof(fc.constant(text), own));
    });
    let fitted = 0;
    fc.assert(
      fc.property(cases, fc.constantFrom("allow", "disallow"), ([key, pattern], list) => {
        const decision = new Views({ v: { [list]: [pattern] } }).decide({ surface: "v" });
        const { tools } = show(catalogOf({ [key]: mcpTool(procedure({})) }), decision).catalog;
        const { resources } = show(catalogOf({ [key]: mcpResource(cell({ schema: z.string() })) }), decision).catalog;
        expect({ pattern, key, shown: resources.length }).toEqual({ pattern, key, shown: tools.length });
        if (tools.length === (list === "allow" ? 1 : 0)) fitted += 1;
      }),
      { numRuns: 500 },
    );
    expect(fitted).toBeGreaterThan(100);
  });

  it("names the pattern that hides an entry", () => {
    const views = new Views([
      {
        id: "few",
        when: { surface: "a" },
        verdict: { kind: "tool_surface", allow: ["node_*", "nodes"], disallow: ["node_l*"], readOnly: true },
      },
    ]);
    const { hidden } = show(catalog, views.decide({ surface: "a" }));
    expect(hidden).toEqual([
      { name: "deploy", by: 'rule "few": not in allow' },
      { name: "node.log", by: 'rule "few": disallow "node_l*"' },
      { name: "node.rerun", by: 'rule "few": readOnly' },
      { name: "purge", by: 'rule "few": not in allow' },
      { name: "review", by: 'rule "few": not in allow' },
      { name: "status", by: 'rule "few": not in allow' },
      { name: "summarise", by: 'rule "few": not in allow' },
    ]);
    expect(JSON.stringify(shownBy({ deny: "no" }).hidden)).not.toContain("inner");
    expect(new Set(shownBy({ deny: "no" }).hidden.map(({ by }) => by))).toEqual(new Set(["deny"]));
  });

  it("finds no hidden entry by any lookup (B12)", () => {
    const { catalog: left } = shownBy({ disallow: ["node_*", "review"] });
    for (const name of ["node_rerun", "nothing", "inner_secret"]) expect(left.tool(name)).toBeUndefined();
    expect(left.toolOf("node.rerun")).toBeUndefined();
    expect(left.prompt("review")).toBeUndefined();
    expect(left.tool("summarise")).toBe(catalog.tool("summarise"));
    expect([left.uriPrefix, left.scopes]).toEqual([catalog.uriPrefix, catalog.scopes]);
  });

  it("a catalog is the same object when all of it is kept", () => {
    expect(narrowCatalog(catalog, { tool: () => true, prompt: () => true, resource: () => true })).toBe(catalog);
  });
});

describe("the entries of a caller", () => {
  const all = shownBy({});

  it("exclude those with required scopes for an anonymous caller, with the reason (B19)", () => {
    const { catalog: listed, hidden } = narrowToGrants(all, callerBy("v"));
    expect(listed.tools.map(({ name }) => name)).toEqual(["node_log", "node_rerun", "summarise"]);
    expect(hidden).toEqual([
      { name: "deploy", by: "resource" },
      { name: "purge", by: "scopes" },
    ]);
  });

  it("exclude those without a grant for a known caller (B19)", () => {
    const reader = callerBy("v", { id: "ci", isAnonymous: false, scopes: ["probe:read"] });
    expect(narrowToGrants(all, reader).catalog.tools.map(({ name }) => name)).toEqual(["node_log", "summarise"]);
    const granted = callerBy("v", {
      id: "ci",
      isAnonymous: false,
      scopes: ["probe:read", "probe:write", "admin"],
      resources: { "repo:*": ["write"] },
    });
    expect(narrowToGrants(all, granted).catalog.tools).toEqual(all.catalog.tools);
  });

  it("exclude hidden ones also for a caller with every grant (B19)", () => {
    const granted = callerBy("v", { id: "ci", isAnonymous: false, scopes: catalog.scopes.all });
    const { catalog: listed } = narrowToGrants(shownBy({ allow: ["status"] }), granted);
    expect([listed.tools, listed.resources.length]).toEqual([[], 1]);
  });
});

const names = ["deploy", "node_log", "node.rerun", "purge", "summarise", "nodes", "status", "review"];
const anyPattern = fc.oneof(
  fc.constantFrom(...names, "*", "node*", "?urge", "zzz"),
  fc.string({ minLength: 1, maxLength: 8 }),
);
const anyView: fc.Arbitrary<Exclude<NamedView, { deny: string }>> = fc.record(
  {
    allow: fc.array(anyPattern, { maxLength: 4 }),
    disallow: fc.array(anyPattern, { maxLength: 4 }),
    readOnly: fc.boolean(),
  },
  { requiredKeys: [] },
);

describe("every view", () => {
  it("a view only subtracts when views are drawn (B19)", () => {
    fc.assert(
      fc.property(anyView, (view) => {
        expect(everything).toEqual(expect.arrayContaining([...leftOf(shownBy(view))]));
      }),
    );
  });

  it("another disallow never adds anything when views are drawn (B11)", () => {
    fc.assert(
      fc.property(anyView, anyPattern, (view, pattern) => {
        const more = { ...view, disallow: [...(view.disallow ?? []), pattern] };
        expect(leftOf(shownBy(view))).toEqual(expect.arrayContaining([...leftOf(shownBy(more))]));
      }),
    );
  });

  it("shows no disallowed entry, whatever is allowed (B11)", () => {
    fc.assert(
      fc.property(anyView, fc.constantFrom("node_log", "purge"), (view, name) => {
        const shown = shownBy({ ...view, allow: [name, "*"], disallow: [name] });
        expect(shown.catalog.tool(name)).toBeUndefined();
      }),
    );
  });

  it("either shows an entry or names it as hidden", () => {
    const entries = (of: Catalog): readonly string[] =>
      [...of.tools, ...of.prompts, ...of.resources, ...of.templates].flatMap((entry) =>
        "isInternal" in entry && entry.isInternal === true ? [] : [entry.id],
      );
    fc.assert(
      fc.property(anyView, (view) => {
        const shown = shownBy(view);
        const told = [...entries(shown.catalog), ...shown.hidden.map(({ name }) => name)];
        expect(new Set(told)).toEqual(new Set(entries(catalog)));
        return shown.hidden.every(({ name }) => !entries(shown.catalog).includes(name));
      }),
    );
  });

  it("is decided and shown the same each time (B17)", () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const named: NamedViews = { v: view };
        const views = new Views(named);
        const first = toolsBy(views, "v", catalog);
        expect(toolsBy(views, "v", catalog)).toEqual(first);
        expect(toolsBy(new Views(structuredClone(named)), "v", catalog)).toEqual(first);
      }),
    );
  });
});
