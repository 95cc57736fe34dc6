import { describe, expect, it } from "vitest";
import { defineSurface } from "../../src/surface/define-surface.ts";
import type { Procedure } from "../../src/surface/member.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { kEffect, kExposure, kTagOptions, tagOf } from "../../src/tags/tag-of.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";

describe("tagOf()", () => {
  it("tagOf() reads no exposure, no effect and no options when a member has none", () => {
    expect(tagOf(procedure({}))).toEqual({ exposure: "none", effect: "unstated", options: {} });
  });

  it("tagOf() reads the tags of another copy of this package when its symbols are the registered ones", () => {
    expect(kExposure).toBe(Symbol.for("surface-mcp.exposure"));
    expect(kEffect).toBe(Symbol.for("surface-mcp.effect"));
    expect(kTagOptions).toBe(Symbol.for("surface-mcp.tag-options"));
  });

  it("a tag adds no enumerable string key to a member", () => {
    const member = procedure({ description: "Runs" });
    expect(Object.keys(mcpTool(member))).toEqual(Object.keys(member));
  });

  it.each([
    ["an exposure", { [kExposure]: "internal" }],
    ["no exposure", { [kExposure]: undefined }],
    ["an exposure of another type", { [kExposure]: true }],
    ["an effect", { [kEffect]: "harmless" }],
  ])(
    "tagOf() refuses a member when %s is not of this version: what is not understood is not exposed",
    (_name, tags) => {
      // Another version of the package, or somebody who casts, wrote it.
      const member = { ...procedure({}), ...tags } as unknown as Procedure;
      expect(() => tagOf(member)).toThrow(expect.objectContaining({ code: "INVALID_MEMBER" }));
      expect(() => defineSurface("s", { a: member })).toThrow(expect.objectContaining({ code: "INVALID_MEMBER" }));
    },
  );
});
