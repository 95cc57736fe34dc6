import type { Issue } from "../errors.ts";
import { compileCheck } from "./compile-check.ts";
import type { CompiledSchema } from "./compile-schema.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { createReceiveWalk, fitsQuietly, refuse } from "./receive-walk.ts";
import type { Check, ReceiveWalk } from "./receive-walk.ts";

/** The outcome of receiving a value: the value as it was in memory, or at most 5 bounded issues. */
export type Received =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Reads one value off the wire, by itself; undefined where nothing was sent. Never throws. */
export type Receiver = (json: JsonValue | undefined) => Received;

const absent: Received = Object.freeze({ ok: true, value: undefined });

/**
 * Creates the reader of an output's values for the far end of a link. It refuses a value that does not fit the schema, and drops
 * fields that closed objects do not declare, since the far end may be newer. The author's schema does not run: no transform runs
 * twice, and refinements are checked where the value comes from. The first value compiles the schema.
 */
export function toReceiver(compiled: CompiledSchema): Receiver {
  let check: Check | undefined;
  const { codec, wrapped } = compiled;
  const toWire = (json: JsonValue): JsonValue => (wrapped ? { value: json } : json);
  return (json) => {
    if (json === undefined && compiled.optional) return absent;
    const walk = createReceiveWalk();
    const received = json === undefined ? undefined : run(json, walk);
    if (received !== undefined) return received;
    // A resource has to say something, so null is how it says undefined.
    if (json === null && compiled.optional) return absent;
    if (walk.issues.length === 0) refuse(walk, "expected a value, received nothing");
    return { ok: false, issues: walk.issues };
  };

  function run(json: JsonValue, walk: ReceiveWalk): Received | undefined {
    try {
      check ??= compileCheck(compiled.reader());
      if (fitsQuietly(check, json, walk)) return { ok: true, value: codec.decode(toWire(json)) };
      // Most values fit as they are: fields are dropped only from those that do not.
      const pruned = codec.prune(toWire(json));
      walk.known = undefined;
      // toWire() has just made the wrapper.
      const bare = wrapped ? ((pruned as JsonObject)["value"] ?? null) : pruned;
      return check(bare, walk) ? { ok: true, value: codec.decode(pruned) } : undefined;
    } catch (fault) {
      if (!(fault instanceof RangeError)) throw fault;
      walk.path.length = 0;
      walk.quiet = false;
      refuse(walk, "nested too deep");
      return undefined;
    }
  }
}
