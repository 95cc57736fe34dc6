import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ViewReplay, ViewRule } from "../../src/index.ts";
import { agentKinds } from "../scenarios/support/clients.ts";
import { standingOf, verdictOf } from "./views-model.ts";
import { checkHidden, toWire } from "./views-hidden.ts";
import { withWorld, type ServedWorld } from "./views-served.ts";
import { createWorld, idOf, pattern, randomWorld, type RandomThing, type RandomWorld } from "./views-world.ts";
import { draws } from "../setup/test-length.ts";

const runs = { numRuns: draws(20, 60), seed: 20_260_728, plugins: [fc.interruptAfterTimeLimit(25_000)] };

// Some patterns fit nothing, which the package warns of.
beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

/** What the client of an SDK is listed: of what was drawn, by its ids, and in all. */
interface Lists {
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
}

/** `undefined`: it was not let in. */
async function listsOf(
  { url, token, has }: ServedWorld,
  kind: (typeof agentKinds)[number],
): Promise<Lists | undefined> {
  const agent = await kind.connect({ url, ...(token === undefined ? {} : { token }) }).catch(() => undefined);
  if (agent === undefined) return undefined;
  try {
    const resources = (await agent.resources()).map((uri) => uri.replace("surface://world/", ""));
    return { tools: await agent.tools(), prompts: has("prompt") ? await agent.prompts() : [], resources };
  } finally {
    await agent.close();
  }
}

/** The ids of what somebody is listed, by the plainest reading of the rules. */
function theirsOf(world: RandomWorld, ...sorts: readonly RandomThing["sort"][]): readonly string[] {
  const theirs = world.things.filter((thing) => sorts.includes(thing.sort) && standingOf(world, thing) === "theirs");
  return theirs.map(idOf).toSorted();
}

/** What a replay says in all, of what was drawn. */
interface Said {
  readonly kind: string;
  readonly face: readonly string[];
  readonly tools: readonly string[];
  readonly resources: readonly string[];
}

function saidBy(world: RandomWorld, { verdict, visible_tools, visible_resources, operations }: ViewReplay): Said {
  const drawn = new Map(
    world.things.flatMap((thing) => [idOf(thing), toWire(idOf(thing))].map((id) => [id, idOf(thing)])),
  );
  const ids = (operations ?? visible_tools).flatMap((name) => drawn.get(name) ?? []);
  const face = operations === undefined ? [] : visible_tools;
  return { kind: verdict.kind, face, tools: ids.toSorted(), resources: visible_resources };
}

/** What it has to say, by the plainest reading of the rules. */
function expectedOf(world: RandomWorld): Said {
  const verdict = verdictOf(world);
  if (verdict.kind === "deny") return { kind: "deny", face: [], tools: [], resources: [] };
  return {
    kind: "tool_surface",
    face: verdict.face === "gateway" ? ["call", "list", "schema", "search"] : [],
    tools: theirsOf(world, "tool", "operation"),
    resources: theirsOf(world, "resource", "template"),
  };
}

describe("any app, rules and caller", () => {
  it("have the lists that the rules allow with each SDK in each era, and a replay shows the same", async () => {
    await fc.assert(
      fc.asyncProperty(randomWorld, async (drawn) => {
        await withWorld(drawn, async (served) => {
          const replay = served.replay();
          expect(saidBy(drawn, replay)).toEqual(expectedOf(drawn));
          const { visible_tools: tools, visible_tool_count } = replay;
          expect(visible_tool_count).toBe(tools.length);
          const resources = replay.visible_resources.filter((id) => id.startsWith("resource_"));
          const lists = { tools, prompts: theirsOf(drawn, "prompt"), resources };
          for (const kind of agentKinds) {
            expect(await listsOf(served, kind)).toEqual(replay.verdict.kind === "deny" ? undefined : lists);
          }
        });
      }),
      runs,
    );
  }, 120_000);

  it("get the answer for an unknown entry for each hidden one, byte for byte, by every method in both eras", async () => {
    // `views.deep.test.ts` draws more worlds.
    expect(await checkHidden({ ...runs, numRuns: draws(8, 15) })).toBeGreaterThan(2);
  }, 120_000);

  it("see no more entries after another pattern in disallow", () => {
    fc.assert(
      fc.property(randomWorld, fc.nat(), pattern, (drawn, at, more) => {
        const world = createWorld(drawn);
        const { surface, project } = drawn;
        const asking = { surface, ...(project === undefined ? {} : { project }) };
        const seen = ({ visible_tools, visible_resources, operations = [] }: ViewReplay): readonly string[] => [
          ...visible_tools,
          ...visible_resources,
          ...operations,
        ];
        const before = seen(world.app.replay(asking));
        const narrower = drawn.rules.map((rule, index): ViewRule => {
          const { verdict } = rule;
          if (verdict.kind === "deny" || index !== at % drawn.rules.length) return rule;
          return { ...rule, verdict: { ...verdict, disallow: [...(verdict.disallow ?? []), more] } };
        });
        world.rules.set(narrower);
        const after = seen(world.app.replay(asking));
        expect(after.filter((name) => !before.includes(name))).toEqual([]);
      }),
      { ...runs, numRuns: draws(60, 200) },
    );
  }, 60_000);
});
