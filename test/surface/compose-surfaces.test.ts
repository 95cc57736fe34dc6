import { describe, expect, it } from "vitest";
import * as z from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { composeSurfaces, siblingNamesOf } from "../../src/surface/compose-surfaces.ts";
import { defineSurface, isSurface } from "../../src/surface/define-surface.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { notes, pipeline } from "../links/support/siblings.ts";
import { failure } from "./support.ts";

describe("composeSurfaces()", () => {
  it("puts each segment before the keys of its sibling, and keeps the members as they are", () => {
    const both = composeSurfaces("both", { pipeline, notes });
    expect(isSurface(both)).toBe(true);
    expect(Object.keys(both.members)).toEqual([
      ...Object.keys(pipeline.members).map((key) => `pipeline.${key}`),
      ...Object.keys(notes.members).map((key) => `notes.${key}`),
    ]);
    expect(both.members["pipeline.node.rerun"]).toBe(pipeline.members["node.rerun"]);
    expect(Object.isFrozen(both) && Object.isFrozen(both.members)).toBe(true);
  });

  it("composes composed surfaces, and knows the names of the innermost", () => {
    const inner = composeSurfaces("inner", { a: pipeline, b: notes });
    const outer = composeSurfaces("outer", { inner, c: notes });
    expect(outer.members["inner.a.nodes"]).toBe(pipeline.members.nodes);
    expect([...(siblingNamesOf(outer) ?? [])]).toEqual([
      ["inner.a", "pipeline"],
      ["inner.b", "notes"],
      ["c", "notes"],
    ]);
    expect(siblingNamesOf(pipeline)).toBeUndefined();
  });

  it.each(["", "a.b", "1a", "_a", "a-b", "__proto__", "ä", "a b"])("refuses the segment %j", (segment) => {
    const siblings = Object.fromEntries([[segment, pipeline]]) as { a: typeof pipeline };
    expect(() => composeSurfaces("x", siblings)).toThrow(failure("INVALID_NAME", "segment"));
  });

  it("refuses an empty record", () => {
    expect(() => composeSurfaces("x", {})).toThrow(failure("INVALID_OPTION"));
  });

  it("refuses a value that is not a surface, an invalid name, and a key that becomes too long", () => {
    expect(() => composeSurfaces("x", { a: {} as typeof pipeline })).toThrow(failure("INVALID_MEMBER", '"a"'));
    expect(() => composeSurfaces("0", { a: pipeline })).toThrow(failure("INVALID_NAME"));
    const long = defineSurface("long", { [`k${"x".repeat(126)}` as "k"]: cell({ schema: z.number() }) });
    expect(() => composeSurfaces("x", { ab: long })).toThrow(failure("INVALID_NAME", "128"));
  });

  it("leads to an error for wire names that collide, with the members of both siblings", () => {
    const verb = mcpTool(procedure({}));
    const composed = composeSurfaces("x", {
      a: defineSurface("a", { b_c: verb }),
      a_b: defineSurface("a_b", { c: verb }),
    });
    const refusal = () => mcp(composed);
    expect(refusal).toThrow(failure("NAME_COLLISION", '"a.b_c"'));
    expect(refusal).toThrow(failure("NAME_COLLISION", '"a_b.c"'));
  });
});
