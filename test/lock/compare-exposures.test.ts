import { describe, expect, it } from "vitest";
import { compareSchemas } from "../../src/lock/compare-schemas.ts";
import { goldenDifferences } from "./golden-differences.ts";
import { diff, opened } from "./support.ts";

const table = goldenDifferences.map(([what, before, after, ...lines]) => [what, before, after, lines] as const);

describe("compareExposures()", () => {
  it("is shown many changes when the table is read", () => {
    expect(goldenDifferences.length).toBeGreaterThan(80);
  });

  it.each(table)("names the change and its direction when %s", (...[, before, after, lines]) => {
    expect(diff(before, after)).toEqual(lines);
  });

  it.each(table)("names nothing when two equal apps are compared, where %s", (_what, before, after) => {
    expect([diff(before, before), diff(after, after)]).toEqual([[], []]);
  });

  it("has opened no connection when all apps were read", () => {
    expect(opened.count).toBe(0);
  });
});

describe("compareSchemas()", () => {
  const needy = { type: "object", required: ["a"] };
  const free = { type: "object" };

  it.each([
    ["becomes optional", [needy, free], { reach: "widens", contract: "compatible" }],
    ["becomes required", [free, needy], { reach: "narrows", contract: "breaking" }],
  ])("finds a field that %s and is not declared, as in schemas of mounts", (_what, [before, after], axes) => {
    expect(compareSchemas(before, after, "input")).toMatchObject([{ path: ["a"], ...axes }]);
  });

  it("counts a schema of other fields that goes as wider, since some validators take any field then", () => {
    const texts = { type: "object", additionalProperties: { type: "string" } };
    const change = { path: ["*"], reach: "widens", contract: "breaking" };
    expect(compareSchemas(texts, { type: "object" }, "input")).toMatchObject([change]);
  });
});
