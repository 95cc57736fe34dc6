import type { Caller } from "../surface/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { Refusal } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import type { ResourceRequirement } from "../tags/scopes.ts";
import { mayActOnThing } from "./authorise.ts";

/** What a tool was called with: as it came, and as the face validated it, where it does. */
export interface CalledWith {
  readonly args: JsonObject;
  readonly input: unknown;
}

function fieldOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function assertActsOn(caller: Caller, resource: ResourceRequirement, named: unknown): void {
  if (mayActOnThing(caller, resource, named)) return;
  throw new Refusal("NOT_FOUND", `there is no ${resource.type} of this name that you may use this for`);
}

/**
 * Refuses a call whose caller may not act on the thing that it names, where its tool asks for that: in words that do not say
 * whether there is such a thing. It is looked for as it came and as it was validated, which may be another text; of what a live
 * surface validates, as it will be. Resolves or returns where they may, and rejects as it throws.
 *
 * @throws Refusal `NOT_FOUND`, SurfaceError `VALIDATION_ERROR` for what a live surface would refuse.
 */
export function assertMayAct(entry: ToolEntry, caller: Caller, { args, input }: CalledWith): Promise<void> | undefined {
  const resource = entry.requires?.resource;
  if (resource?.argument === undefined) return undefined;
  const { argument } = resource;
  const came = fieldOf(args, argument);
  // At once: what they may not act on costs no validation. What did not come is what its schema says by default.
  if (came !== undefined) assertActsOn(caller, resource, came);
  const assertValidated = (value: unknown): void =>
    assertActsOn(caller, resource, entry.input.root === argument ? value : fieldOf(value, argument));
  const validated = entry.owner === "surface" ? entry.preview?.(args) : input;
  if (validated instanceof Promise) return validated.then(assertValidated);
  assertValidated(validated);
  return undefined;
}
