/** A property: whatever a caller does not see is answered as something that does not exist. */
import * as fc from "fast-check";
import { expect } from "vitest";
import { standingOf, verdictOf } from "./views-model.ts";
import { openRaw, type RawClient } from "./views-raw-client.ts";
import { withWorld } from "./views-served.ts";
import { idOf, randomWorld, type RandomThing } from "./views-world.ts";

const never = 9;
const tone = { tone: "kind" };

type Ask = (door: RawClient, id: string) => Promise<string>;

function uriOf(sort: RandomThing["sort"], id: string): string {
  return `surface://world/${id}${sort === "template" ? "/kind" : ""}`;
}

function callOf(door: RawClient, name: string, args: object = {}): Promise<string> {
  return door.ask("tools/call", { name, arguments: args });
}

/** Searches for a text. Partial matches are left out of the answer: visible ones are near one text and not near another. */
async function searchFor(door: RawClient, q: string): Promise<string> {
  const answer = await callOf(door, "search", { q });
  const tools: unknown = Object(
    Object(Object(JSON.parse(answer.slice(answer.indexOf("{")))).result).structuredContent,
  ).tools;
  if (!Array.isArray(tools)) return answer;
  return JSON.stringify(tools.filter((tool) => Object(tool).partial !== true));
}

/** The name of an id on the wire. */
export const toWire = (id: string): string => id.replaceAll(".", "_");

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

async function expectAsNone(door: RawClient, thing: RandomThing): Promise<void> {
  for (const ask of asksFor(thing.sort)) {
    const [id, none] = [idOf(thing), idOf({ ...thing, nr: never })];
    expect(withoutName(await ask(door, id), id)).toBe(withoutName(await ask(door, none), none));
  }
}

/** Draws worlds and asks for each hidden thing of theirs in every way. Returns how many hidden things were tried. */
export async function checkHidden(runs: fc.Parameters<unknown>): Promise<number> {
  let tried = 0;
  await fc.assert(
    fc.asyncProperty(randomWorld, async (drawn) => {
      await withWorld(drawn, async (served) => {
        if (verdictOf(drawn).kind === "deny") return;
        const none = drawn.things.filter((thing) => standingOf(drawn, thing) === "none");
        for (const era of ["legacy", "modern"] as const) {
          const door = await openRaw(served.url, era, served.token);
          for (const thing of none) await expectAsNone(door, thing);
        }
        tried += none.length;
      });
    }),
    runs,
  );
  return tried;
}
