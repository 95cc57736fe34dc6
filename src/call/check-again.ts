import { operationNotFound } from "../catalog/cannot-nest.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { Refusal } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import type { Caller } from "../surface/caller.ts";
import { checkInput } from "../surface/check-value.ts";
import type { ResourceRequirement } from "../tags/scopes.ts";
import { mayActOnThing } from "./authorise.ts";
import type { CallContext } from "./call-context.ts";

/** What runs, and with what. */
export interface Checked {
  readonly entry: ToolEntry;
  readonly input: unknown;
}

/** The arguments of a call: as they came, and as they were validated before the call, if they were. */
interface CalledWith {
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
 * Refuses a call whose caller may not act on the thing that an argument names, if its tool requires that. The message does not say
 * whether the thing exists. Both texts are checked: the argument as it came and as it is after validation. Rejects as it throws.
 *
 * @throws Refusal `NOT_FOUND`, SurfaceError `VALIDATION_ERROR` for what a live surface would refuse.
 */
function assertMayAct(entry: ToolEntry, caller: Caller, { args, input }: CalledWith): Promise<void> | undefined {
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

/** How often one call is checked again: a source may list another operation each time that it is asked. */
const maxTimes = 3;

/** Creates the refusal of an operation that was replaced or hidden. */
export function notThere(): Refusal {
  return new Refusal(operationNotFound.code, operationNotFound.message);
}

/** Whether whoever was let through to one entry would be to the other: by its name, its rights, and views that only read. */
function asksTheSame(one: ToolEntry, other: ToolEntry): boolean {
  const [left, right] = [one, other].map(({ id, scopes, requires, hints, isInternal = false }) => {
    return JSON.stringify([id, scopes, requires, hints.readOnlyHint, isInternal]);
  });
  return left === right;
}

/** What has taken an entry's place. @throws Refusal `OPERATION_NOT_FOUND` where nothing has, or what asks for something else. */
function successorOf(entry: ToolEntry): ToolEntry {
  const now = entry.now?.();
  if (now === undefined || !asksTheSame(now, entry)) throw notThere();
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

/** Whether an entry is still what there is of its name. */
function isStillThere(entry: ToolEntry): boolean {
  return entry.now === undefined || entry.now() === entry;
}

/**
 * Holds arguments against what has taken an entry's place while they were checked. What asks more or less of callers is another
 * thing, and so is what is gone.
 *
 * @throws Refusal `OPERATION_NOT_FOUND`. @throws SurfaceError `VALIDATION_ERROR`, and what the call was ended with.
 */
async function checkAgain(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<Checked> {
  for (let times = 0; times < maxTimes; times += 1) {
    const now = successorOf(entry);
    const { input: schema } = now.owner === "surface" ? { input: undefined } : now.owner;
    // One after the other: each may come to be another while it is checked.
    const input: unknown = await call.outcome(Promise.resolve(checkInput(schema, now.input.decode(args), now.origin)));
    const acting = assertMayAct(now, call.caller, { args, input });
    if (acting !== undefined) await call.outcome(acting);
    if (isStillThere(now)) return { entry: now, input };
  }
  throw notThere();
}

/**
 * Holds a call whose arguments fit against what its caller may act on, and against what its entry has come to be. What runs then,
 * maybe later.
 *
 * @throws Refusal `NOT_FOUND`, `OPERATION_NOT_FOUND`. @throws SurfaceError `VALIDATION_ERROR`, and what the call was ended with.
 */
export function settle(checked: Checked, args: JsonObject, call: CallContext): Checked | Promise<Checked> {
  const { entry, input } = checked;
  const toRun = (): Checked | Promise<Checked> => (isStillThere(entry) ? checked : checkAgain(entry, args, call));
  const acting = assertMayAct(entry, call.caller, { args, input });
  return acting === undefined ? toRun() : call.outcome(acting).then(toRun);
}
