import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import type { MountSource } from "../../../src/catalog/mounts/mount.ts";
import { SurfaceError } from "../../../src/errors.ts";
import { mount } from "./mount-support.ts";

const source = (operation: object): MountSource => ({
  // As sources do that cast.
  list: () => [operation] as ReturnType<MountSource["list"]>,
  subscribe: () => () => {},
  invoke: () => null,
});

describe("what is left out of a mount", () => {
  it.each<[string, object, RegExp]>([
    ["has a name that is none", { name: "a b" }, /^Cannot name operation "m\.a b": .*; it is left out$/],
    ["has a schema that nobody could hold", { name: "a", inputSchema: { $ref: "#/x" } }, /; it is left out$/],
  ])("is told of in one line that says so when it %s", (_what, operation, message) => {
    const mounted = mount({ m: source(operation) });
    expect(mounted.live.current.tools.map(({ name }) => name)).toEqual(["own"]);
    const { faults } = mounted;
    expect(faults.map(({ cause }) => (cause instanceof SurfaceError ? cause.message : ""))).toEqual([
      expect.stringMatching(message),
    ]);
    expect(inspect(faults[0]?.cause)).not.toMatch(/^\s+at /m);
  });

  it("is told of with what was thrown when it throws something of its own", () => {
    const thrown = new Error("no name today");
    const operation = {
      get name(): string {
        throw thrown;
      },
    };
    const { live, faults } = mount({ m: source(operation) });
    expect(live.current.tools).toHaveLength(1);
    expect(faults[0]?.cause).toMatchObject({ message: expect.stringMatching(/; it is left out$/), cause: thrown });
  });
});
