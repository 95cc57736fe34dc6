import { operationNotFound } from "../catalog/outcome.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { Refusal } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import type { Caller } from "../surface/caller.ts";
import { checkInput } from "../surface/check-value.ts";
import type { ResourceRequirement } from "../tags/scopes.ts";
import { mayActOnThing } from "./authorise.ts";
import type { CallContext } from "./call-context.ts";

/** An entry to run, and its validated input. */
export interface Checked {
  readonly entry: ToolEntry;
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
 * Refuses a call whose caller may not act on the thing that an argument names, if its tool requires that. The message does not say
 * whether the thing exists. Both texts are checked: the argument as it came and as it is after validation. Rejects as it throws.
 *
 * @throws Refusal `NOT_FOUND`, SurfaceError `VALIDATION_ERROR` for what a live surface would refuse.
 */
function assertMayAct({ entry, input }: Checked, args: JsonObject, caller: Caller): Promise<void> | undefined {
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

/** Number of times that one call is checked again: a source may list another operation each time. */
const maxTimes = 3;

/** Creates the refusal of an operation that was replaced or hidden. */
export function notThere(): Refusal {
  return new Refusal(operationNotFound.code, operationNotFound.message);
}

/** Writes what decides who may call an entry: its name, its rights, and whether views that only read show it. */
function accessOf({ id, scopes, requires, hints, isInternal = false }: ToolEntry): string {
  return JSON.stringify([id, scopes, requires, hints.readOnlyHint, isInternal]);
}

/** Returns the successor of an entry. @throws Refusal `OPERATION_NOT_FOUND` if there is none with the same access. */
function successorOf(entry: ToolEntry): ToolEntry {
  const now = entry.now?.();
  if (now === undefined || accessOf(now) !== accessOf(entry)) throw notThere();
  return now;
}

/**
 * Refuses a call whose entry was replaced, or hidden from its caller, while it waited.
 *
 * @throws Refusal `OPERATION_NOT_FOUND`.
 */
export function assertStillThere(entry: ToolEntry, { stillShown }: CallContext): void {
  if (stillShown?.() === false || !isStillThere(entry)) throw notThere();
}

function isStillThere(entry: ToolEntry): boolean {
  return entry.now === undefined || entry.now() === entry;
}

/**
 * Checks arguments against the successor of an entry that was replaced while they were checked. A successor with another access is
 * another operation.
 *
 * @throws Refusal `OPERATION_NOT_FOUND`. @throws SurfaceError `VALIDATION_ERROR`, and what the call was ended with.
 */
async function checkAgain(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<Checked> {
  for (let times = 0; times < maxTimes; times += 1) {
    const now = successorOf(entry);
    const { input: schema } = now.owner === "surface" ? { input: undefined } : now.owner;
    // One after the other: each may come to be another while it is checked.
    const input: unknown = await call.outcome(Promise.resolve(checkInput(schema, now.input.decode(args), now.origin)));
    const checked = { entry: now, input };
    const acting = assertMayAct(checked, args, call.caller);
    if (acting !== undefined) await call.outcome(acting);
    if (isStillThere(now)) return checked;
  }
  throw notThere();
}

/**
 * Returns what a call runs whose arguments fit: its caller may act on the thing that they name, and its entry is the newest.
 *
 * @throws Refusal `NOT_FOUND`, `OPERATION_NOT_FOUND`. @throws SurfaceError `VALIDATION_ERROR`, and what the call was ended with.
 */
export function settle(checked: Checked, args: JsonObject, call: CallContext): Checked | Promise<Checked> {
  const { entry } = checked;
  const toRun = (): Checked | Promise<Checked> => (isStillThere(entry) ? checked : checkAgain(entry, args, call));
  const acting = assertMayAct(checked, args, call.caller);
  return acting === undefined ? toRun() : call.outcome(acting).then(toRun);
}
