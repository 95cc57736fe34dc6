import { createNotFound } from "../catalog/outcome.ts";
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
 * Refuses a call without the right to the resource that an argument names. The message does not tell whether the resource exists.
 * Checks the argument both as received and as validated. Throws, or rejects with, a Refusal `NOT_FOUND` or a SurfaceError
 * `VALIDATION_ERROR` of the live surface.
 */
function assertMayAct({ entry, input }: Checked, args: JsonObject, caller: Caller): Promise<void> | undefined {
  const resource = entry.requires?.resource;
  if (resource?.argument === undefined) return undefined;
  const { argument } = resource;
  const received = fieldOf(args, argument);
  // Before validation, which costs more. A missing argument gets its default there.
  if (received !== undefined) assertActsOn(caller, resource, received);
  const assertValidated = (value: unknown): void =>
    assertActsOn(caller, resource, entry.input.root === argument ? value : fieldOf(value, argument));
  const validated = entry.owner === "surface" ? entry.preview?.(args) : input;
  if (validated instanceof Promise) return validated.then(assertValidated);
  assertValidated(validated);
  return undefined;
}

/** The maximum number of repeated checks of a call: a source may list another operation each time. */
const maxTimes = 3;

/** Returns the properties that decide who may call an entry: its id, its rights, and whether it only reads. */
function accessOf({ id, scopes, requires, hints, isInternal = false }: ToolEntry): string {
  return JSON.stringify([id, scopes, requires, hints.readOnlyHint, isInternal]);
}

/** Returns the successor of an entry. @throws Refusal `OPERATION_NOT_FOUND` without one of the same access. */
function successorOf(entry: ToolEntry): ToolEntry {
  const now = entry.now?.();
  if (now === undefined || accessOf(now) !== accessOf(entry)) throw createNotFound();
  return now;
}

/** Refuses a call whose entry was replaced or hidden while the call waited. @throws Refusal `OPERATION_NOT_FOUND`. */
export function assertStillThere(entry: ToolEntry, { stillShown }: CallContext): void {
  if (stillShown?.() === false || !isStillThere(entry)) throw createNotFound();
}

function isStillThere(entry: ToolEntry): boolean {
  return entry.now === undefined || entry.now() === entry;
}

/**
 * Validates arguments again for the successor of an entry that was replaced meanwhile. A successor with other access is another
 * operation.
 *
 * @throws Refusal `OPERATION_NOT_FOUND`; SurfaceError `VALIDATION_ERROR`, or the error that ended the call.
 */
async function checkAgain(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<Checked> {
  for (let times = 0; times < maxTimes; times += 1) {
    const now = successorOf(entry);
    const { input: schema } = now.owner === "surface" ? { input: undefined } : now.owner;
    // Sequential, since the entry may be replaced during each check.
    const input: unknown = await call.outcome(Promise.resolve(checkInput(schema, now.input.decode(args), now.origin)));
    const checked = { entry: now, input };
    const acting = assertMayAct(checked, args, call.caller);
    if (acting !== undefined) await call.outcome(acting);
    if (isStillThere(now)) return checked;
  }
  throw createNotFound();
}

/**
 * Checks a call with valid arguments: the right to the resource that they name, and that the entry is still the newest. Returns the
 * newest entry and its input.
 *
 * @throws Refusal `NOT_FOUND`, `OPERATION_NOT_FOUND`; SurfaceError `VALIDATION_ERROR`, or the error that ended the call.
 */
export function settle(checked: Checked, args: JsonObject, call: CallContext): Checked | Promise<Checked> {
  const { entry } = checked;
  const toRun = (): Checked | Promise<Checked> => (isStillThere(entry) ? checked : checkAgain(entry, args, call));
  const acting = assertMayAct(checked, args, call.caller);
  return acting === undefined ? toRun() : call.outcome(acting).then(toRun);
}
