import { describe, expect, it } from "vitest";
import { toToolHints } from "../../../src/catalog/tool-head.ts";
import type { Effect } from "../../../src/tags/tag-of.ts";
import type { ToolOptions } from "../../../src/tags/tool-options.ts";

const tri = [undefined, true, false] as const;
const effects: readonly Effect[] = ["unstated", "read", "mutates"];

/** Every way to say something, or nothing, about a tool. */
const combinations = effects.flatMap((effect) =>
  tri.flatMap((mutates) =>
    tri.flatMap((destructive) =>
      tri.flatMap((idempotent) =>
        tri.map((openWorld): { readonly effect: Effect; readonly options: ToolOptions } => ({
          effect,
          options: {
            ...(mutates === undefined ? {} : { mutates }),
            ...(destructive === undefined ? {} : { destructive }),
            ...(idempotent === undefined ? {} : { idempotent }),
            ...(openWorld === undefined ? {} : { openWorld }),
          },
        })),
      ),
    ),
  ),
);

describe("toToolHints()", () => {
  it("toToolHints() says all four hints, as booleans, for all 243 combinations", () => {
    expect(combinations).toHaveLength(243);
    const said = combinations.map(({ effect, options }) => toToolHints(effect, options));
    expect(new Set(said.flatMap((hints) => Object.values(hints).map((value) => typeof value)))).toEqual(
      new Set(["boolean"]),
    );
    expect(new Set(said.map((hints) => Object.keys(hints).join()))).toEqual(
      new Set(["readOnlyHint,destructiveHint,idempotentHint,openWorldHint"]),
    );
    expect(said.every((hints) => Object.isFrozen(hints))).toBe(true);
  });

  it.each([
    ["unstated", {}, { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }],
    ["mutates", {}, { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }],
    ["read", {}, { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }],
    ["unstated", { mutates: false }, { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
    ["unstated", { mutates: true }, { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
    ["unstated", { destructive: false }, { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
    ["unstated", { idempotent: true }, { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
    [
      "read",
      { idempotent: false, openWorld: true },
      { readOnlyHint: true, idempotentHint: false, openWorldHint: true },
    ],
  ] as const)("toToolHints() for %s with %j", (effect, options, expected) => {
    expect(toToolHints(effect, options)).toMatchObject(expected);
  });

  it("toToolHints() never advertises a tool as read-only and destructive at once", () => {
    const both = combinations
      .map(({ effect, options }) => toToolHints(effect, options))
      .filter((hints) => hints.readOnlyHint && hints.destructiveHint);
    expect(both).toEqual([]);
  });
});
