import type { HandledMethod } from "../../src/mcp/handlers.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { wireOf } from "./live-oracle.ts";
import type { RequestKind, RequestStep } from "./live-script.ts";
import { idOf, type RandomThing } from "./views-world.ts";

/** One request as a client sends it. */
export interface Wire {
  readonly method: HandledMethod;
  readonly params: JsonObject;
  /** The spelling of the name that the request uses. */
  readonly said: string;
}

function call(name: string, args: JsonObject, said: string): Wire {
  return { method: "tools/call", params: { name, arguments: args }, said };
}

/** Spellings that are near an id and are none. */
function nearOf(id: string, choice: number): string {
  const segments = id.split(".");
  const spellings = [segments.at(-1) ?? id, id.replaceAll("_", "."), `${segments.slice(-2).join(".")} `];
  const near = spellings.filter((each) => each !== id && each !== wireOf(id));
  return near[choice % near.length] ?? `${id} `;
}

const uriOf = (id: string): string => `surface://world/${id}${id.startsWith("template") ? "/kind" : ""}`;

function useOf({ sort }: RandomThing, id: string): Wire {
  if (sort === "tool" || sort === "operation") return call(wireOf(id), {}, wireOf(id));
  if (sort === "prompt") return { method: "prompts/get", params: { name: id, arguments: { tone: "kind" } }, said: id };
  return { method: "resources/read", params: { uri: uriOf(id) }, said: id };
}

const queries = ["", "op", "some", "ops.some", "tool", "run the op"];

type ToWire = (id: string, spelling: number) => Wire;

/** Returns the id itself or its name on the wire. */
function nameOf(id: string, spelling: number): string {
  return spelling % 2 === 0 ? id : wireOf(id);
}

function search(id: string, spelling: number): Wire {
  const q = [...queries, nearOf(id, spelling)][spelling % (queries.length + 1)] ?? "";
  return call("search", { q, limit: 500 }, q);
}

const toWires: Readonly<Partial<Record<RequestKind, ToWire>>> = {
  "near call": (id, spelling) => call(nearOf(id, spelling), {}, nearOf(id, spelling)),
  "near schema": (id, spelling) => call("schema", { tool: nearOf(id, spelling) }, nearOf(id, spelling)),
  read_resource: (id) => call("read_resource", { uri: uriOf(id) }, id),
  "gateway schema": (id, spelling) => call("schema", { tool: nameOf(id, spelling) }, nameOf(id, spelling)),
  "gateway call": (id, spelling) => call("call", { calls: [{ tool: nameOf(id, spelling) }] }, nameOf(id, spelling)),
  "gateway list": () => call("list", { limit: 1000 }, ""),
  "gateway search": search,
};

/** Returns the request of a step, for a thing that may be absent. */
export function wireFor({ kind, spelling }: RequestStep, thing: RandomThing): Wire {
  if (kind === "use") return useOf(thing, idOf(thing));
  // The kinds without an entry are methods without arguments.
  return toWires[kind]?.(idOf(thing), spelling) ?? { method: kind as HandledMethod, params: {}, said: "" };
}
