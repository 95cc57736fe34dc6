import type { Issue } from "../../errors.ts";
import type { CompiledSchema } from "../compile-schema.ts";
import type { JsonValue } from "../json.ts";
import { addFault, addIssue, createCheckWalk, fitsQuietly } from "./check-walk.ts";
import type { Check, CheckWalk } from "./check-walk.ts";
import { compileCheck } from "./compile-check.ts";

/** The outcome of receiving a value: the value as it was in memory, or at most 5 bounded issues. */
export type Received =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Reads one value off the wire, without a wrapper; undefined where nothing was sent. Never throws. */
export type Receiver = (json: JsonValue | undefined) => Received;

const absent: Received = Object.freeze({ ok: true, value: undefined });

/**
 * Creates the reader of an output's values for the far end of a link. It refuses a value that does not fit the schema, and drops
 * fields that closed objects do not declare, since the far end may be newer. The author's schema does not run: no transform runs
 * twice, and refinements are checked where the value comes from. The first value compiles the schema.
 */
export function createReceiver(compiled: CompiledSchema): Receiver {
  let check: Check | undefined;
  const { bare, optional } = compiled;
  const run = (json: JsonValue, walk: CheckWalk): Received | undefined => {
    check ??= compileCheck(compiled.reader());
    if (fitsQuietly(check, json, walk)) return { ok: true, value: bare.codec.decode(json) };
    // Most values fit as they are: fields are dropped only from those that do not.
    const pruned = bare.codec.prune(json);
    walk.known = undefined;
    return check(pruned, walk) ? { ok: true, value: bare.codec.decode(pruned) } : undefined;
  };
  return (json) => {
    if (json === undefined && optional) return absent;
    const walk = createCheckWalk();
    try {
      const received = json === undefined ? undefined : run(json, walk);
      if (received !== undefined) return received;
    } catch (fault) {
      addFault(walk, fault);
    }
    // A resource that may be undefined sends null, since a resource always has content.
    if (json === null && optional) return absent;
    if (walk.issues.length === 0) addIssue(walk, "expected a value, received nothing");
    return { ok: false, issues: walk.issues };
  };
}
