import { describe, expect, it } from "vitest";
import { Views } from "../../src/views/views.ts";
import { viewWarnings } from "../../src/builder/author-warnings.ts";
import { sampleCatalog } from "../views/support.ts";

const catalog = sampleCatalog();

describe("warnings about views", () => {
  it("viewWarnings() names an unmatched pattern, its place and similar names", () => {
    const views = new Views({ readonly: { disallow: ["node_*", "nodd_*"], allow: ["sumarise", "zzz"] } });
    expect(viewWarnings(views, catalog)).toEqual([
      'the pattern "sumarise" in "allow" of rule "readonly" of packet "views" matches nothing; near it are "summarise"',
      'the pattern "zzz" in "allow" of rule "readonly" of packet "views" matches nothing',
      'the pattern "nodd_*" in "disallow" of rule "readonly" of packet "views" matches nothing; near it are "node.log", "node.rerun", "node_log", "node_rerun", "nodes"',
    ]);
  });

  it("viewWarnings() is silent when every pattern fits a tool, a prompt or a resource", () => {
    const allow = ["summarise", "review", "status", "node.*", "ci(node_log)", "mcp__ci__node_?og"];
    expect(viewWarnings(new Views({ a: { allow }, b: { deny: "no" } }, { server: "ci" }), catalog)).toEqual([]);
    expect(viewWarnings(new Views(undefined), catalog)).toEqual([]);
  });

  it("viewWarnings() returns nothing for a pattern of a mount", () => {
    const views = new Views({ a: { disallow: ["git.*", "git_push", "*_push", "gi*", "hub.push"] } });
    expect(viewWarnings(views, catalog, ["git"])).toEqual([
      'the pattern "hub.push" in "disallow" of rule "a" of packet "views" matches nothing',
    ]);
  });

  it("viewWarnings() stops after some when there are thousands of patterns", () => {
    const allow = Array.from({ length: 1024 }, (_, index) => `nothing${index}`);
    expect(viewWarnings(new Views({ a: { allow }, b: { allow } }), catalog)).toHaveLength(32);
  });
});
