import type { Caller } from "../catalog/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { Refusal } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { mayActOnThing } from "./may-act-on.ts";

/** What a tool was called with: as it came, and as it was validated. */
export interface CalledWith {
  readonly args: JsonObject;
  readonly input: unknown;
}

function fieldOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** What a call names, in each of its forms: what the owner of a schema makes of an argument is another text than what came. */
function namedBy(entry: ToolEntry, { args, input }: CalledWith, argument: string): readonly unknown[] {
  const came = fieldOf(args, argument);
  if (entry.owner === "surface") return [came];
  const validated = entry.input.root === argument ? input : fieldOf(input, argument);
  // What did not come is what its schema says by default.
  return came === undefined ? [validated] : [came, validated];
}

/**
 * Refuses a call whose caller may not act on the thing that it names, where its tool asks for that: in words that do not say
 * whether there is such a thing.
 *
 * @throws Refusal `NOT_FOUND`.
 */
export function assertMayAct(entry: ToolEntry, caller: Caller, called: CalledWith): void {
  const resource = entry.requires?.resource;
  if (resource?.argument === undefined) return;
  const { argument, type } = resource;
  if (namedBy(entry, called, argument).every((named) => mayActOnThing(caller, resource, named))) return;
  throw new Refusal("NOT_FOUND", `there is no ${type} of this name that you may use this for`);
}
