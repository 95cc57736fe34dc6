import { describe, expect, it } from "vitest";
import { diffLists, patchSorted } from "../../../src/catalog/list-changes.ts";
import type { MountedOperation, MountedResource } from "../../../src/catalog/mounts/mount.ts";
import { mount } from "./mount-support.ts";
import { Shelf } from "./mount-shelf.ts";

/** Numbers that are the same each time, and look like none. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function idsOf({ live }: ReturnType<typeof mount>) {
  const { tools, resources } = live.current;
  const found = tools.filter((tool) => live.current.tool(tool.name) === tool && live.current.toolOf(tool.id) === tool);
  return { tools: tools.map(({ id }) => id), found: found.length, resources: resources.map(({ id }) => id) };
}

/** Two entries that share a name have different ids. */
const namesOf = ({ tools }: ReturnType<typeof idsOf>): readonly string[] => tools.map((id) => id.replaceAll(".", "_"));

describe("lists of what is mounted", () => {
  it("diffLists() says what has gone and come when a list has become another", () => {
    expect(diffLists([1, 2, 3], [1, 3])).toEqual({ gone: [2], come: [] });
    expect(diffLists([1, 2], [1, 9, 2, 4])).toEqual({ gone: [], come: [9, 4] });
    expect(diffLists([1, 2, 3, 4], [4, 3, 2, 1])).toEqual({ gone: [], come: [] });
    expect(diffLists([], [1])).toEqual({ gone: [], come: [1] });
    expect(diffLists([1, 2, 3], [2, 5, 3])).toEqual({ gone: [1], come: [5] });
  });

  it.each([1, 40])("patchSorted() keeps the order, and diffLists() knows the difference: %i items", (count) => {
    const toId = (text: string): string => text;
    const come = Array.from({ length: count }, (_, index) => `b${index + 10}`);
    const patched = patchSorted(["a", "b", "c"], { gone: ["b"], come: come.toReversed() }, toId);
    expect(patched).toEqual(["a", ...come, "c"]);
    expect(Object.isFrozen(patched)).toBe(true);
    const list = ["a", "b", "c"];
    const diff = { gone: ["b"], come: ["d"] };
    expect(diffLists(list, patchSorted(list, diff, toId))).toBe(diff);
    expect(diffLists(["a", "b"], patchSorted(list, diff, toId))).toEqual({ gone: ["b"], come: ["c", "d"] });
  });

  it("keep what is listed twice when it goes once", () => {
    const shelf = new Shelf();
    const [one, two] = [{ name: "one" }, { name: "two" }];
    shelf.operations = [one, one, two];
    const mounted = mount({ hub: shelf });
    expect(idsOf(mounted).tools).toEqual(["hub.one", "hub.two", "own"]);
    for (const operations of [[one, two], [two, one, one], [two, one], [one]]) {
      shelf.operations = operations;
      shelf.tell();
      expect(idsOf(mounted).tools).toEqual(
        [...operations.map(({ name }) => `hub.${name}`)]
          .toSorted()
          .filter((id, index, all) => all.indexOf(id) === index)
          .concat("own"),
      );
    }
    expect(mounted.faults).toEqual([]);
  });

  it("have the one that came first when two share a name, until it goes or is replaced", () => {
    const shelf = new Shelf();
    const [dotted, plain] = [{ name: "a.b" }, { name: "a_b" }];
    shelf.operations = [plain];
    const mounted = mount({ hub: shelf });
    expect(idsOf(mounted).tools).toEqual(["hub.a_b", "own"]);
    for (const operations of [
      [dotted, plain],
      [dotted, { ...plain }],
    ]) {
      shelf.operations = operations;
      shelf.tell();
      expect(idsOf(mounted).tools).toEqual(["hub.a_b", "own"]);
    }
    shelf.operations = [dotted];
    shelf.tell();
    expect(idsOf(mounted).tools).toEqual(["hub.a.b", "own"]);
    expect(mounted.faults.length).toBe(1);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    "come to the names that a new app would have when they change at random, seed %i",
    (seed) => {
      const random = createRandom(seed);
      const operations: readonly MountedOperation[] = Array.from({ length: 12 }, (_, index) => ({
        // Some share a name, on the wire or altogether.
        name: ["a.b", "a_b", "a.b"][index] ?? `op${index % 9}`,
      }));
      const resources: readonly MountedResource[] = Array.from({ length: 8 }, (_, index) => ({
        path: `r${index % 6}`,
      }));
      const pick = <TItem>(items: readonly TItem[]): readonly TItem[] =>
        items.filter(() => random(3) > 0).toSorted(() => random(3) - 1);
      const shelf = new Shelf();
      const mounted = mount({ hub: shelf });
      for (let round = 0; round < 60; round++) {
        shelf.operations = pick(operations);
        shelf.show(...pick(resources));
        if (random(4) === 0) continue;
        const [now, anew] = [idsOf(mounted), idsOf(mount({ hub: shelf }))];
        expect({ ...now, tools: namesOf(now) }).toEqual({ ...anew, tools: namesOf(anew) });
        expect(now.found).toBe(now.tools.length);
      }
    },
  );
});
