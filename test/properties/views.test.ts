import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ViewReplay, ViewRule } from "../../src/index.ts";
import { agentKinds } from "../scenarios/support/clients.ts";
import { standingOf, verdictOf } from "./views-model.ts";
import { openRaw, type RawDoor } from "./views-door.ts";
import { withWorld, type ServedWorld } from "./views-served.ts";
import { createWorld, idOf, pattern, randomWorld, type RandomThing, type RandomWorld } from "./views-world.ts";

/** As many as there is time for. */
const runs = { numRuns: 60, seed: 20_260_728, plugins: [fc.interruptAfterTimeLimit(25_000)] };

// Some patterns fit nothing, which the package warns of.
beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

const never = 9;
const tone = { tone: "kind" };

type Ask = (door: RawDoor, id: string) => Promise<string>;

function uriOf(sort: RandomThing["sort"], id: string): string {
  return `surface://world/${id}${sort === "template" ? "/kind" : ""}`;
}

function callOf(door: RawDoor, name: string, args: object = {}): Promise<string> {
  return door.ask("tools/call", { name, arguments: args });
}

/** Searches for a text. Partial matches are left out of the answer: visible ones are near one text and not near another. */
async function searchFor(door: RawDoor, q: string): Promise<string> {
  const answer = await callOf(door, "search", { q });
  const tools: unknown = Object(
    Object(Object(JSON.parse(answer.slice(answer.indexOf("{")))).result).structuredContent,
  ).tools;
  if (!Array.isArray(tools)) return answer;
  return JSON.stringify(tools.filter((tool) => Object(tool).partial !== true));
}

const toWire = (id: string): string => id.replaceAll(".", "_");

/** Every way in which something of a sort may be asked for by its name. */
function asksFor(sort: RandomThing["sort"]): readonly Ask[] {
  if (sort === "tool" || sort === "operation") {
    return [
      (door, id) => callOf(door, toWire(id)),
      (door, id) => callOf(door, toWire(id), { wrong: true }),
      (door, id) => callOf(door, "schema", { tool: id }),
      (door, id) => callOf(door, "call", { calls: [{ tool: id }, { tool: toWire(id) }] }),
      searchFor,
      (door, id) => callOf(door, "list", { namespace: id }),
    ];
  }
  if (sort === "prompt") {
    const argument = { name: "tone", value: "" };
    return [
      (door, name) => door.ask("prompts/get", { name, arguments: tone }),
      (door, name) => door.ask("completion/complete", { ref: { type: "ref/prompt", name }, argument }),
    ];
  }
  const uriIn = (id: string): string => uriOf(sort, id);
  const complete: Ask = (door, id) => {
    const ref = { type: "ref/resource", uri: `surface://world/${id}/{tone}` };
    return door.ask("completion/complete", { ref, argument: { name: "tone", value: "" } });
  };
  return [
    (door, id) => door.ask("resources/read", { uri: uriIn(id) }),
    (door, id) => door.watch(uriIn(id)),
    (door, id) => callOf(door, "read_resource", { uri: uriIn(id) }),
    (door, id) => callOf(door, "wait_for_change", { uris: [uriIn(id)], timeout_ms: 1 }),
    ...(sort === "template" ? [complete] : []),
  ];
}

function withoutName(answer: string, id: string): string {
  return answer.replaceAll(id, "ID").replaceAll(toWire(id), "WIRE");
}

async function expectAsNone(door: RawDoor, thing: RandomThing): Promise<void> {
  for (const ask of asksFor(thing.sort)) {
    const [id, none] = [idOf(thing), idOf({ ...thing, nr: never })];
    expect(withoutName(await ask(door, id), id)).toBe(withoutName(await ask(door, none), none));
  }
}

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

describe("whatever an app has, whatever its rules are and whoever asks,", () => {
  it("a replay shows what the client of each SDK is listed in each era, and that is what the rules say", async () => {
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

  it("what is not visible is answered as what never was, byte for byte, by every method in both eras", async () => {
    const tried = { things: 0 };
    await fc.assert(
      fc.asyncProperty(randomWorld, async (drawn) => {
        await withWorld(drawn, async (served) => {
          if (verdictOf(drawn).kind === "deny") return;
          const none = drawn.things.filter((thing) => standingOf(drawn, thing) === "none");
          for (const era of ["legacy", "modern"] as const) {
            const door = await openRaw(served.url, era, served.token);
            for (const thing of none) await expectAsNone(door, thing);
          }
          tried.things += none.length;
        });
      }),
      runs,
    );
    expect(tried.things).toBeGreaterThan(20);
  }, 120_000);

  it("one more pattern in disallow never makes anything visible", () => {
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
      { ...runs, numRuns: 200 },
    );
  }, 60_000);
});
