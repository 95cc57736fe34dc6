import type { Issue } from "../errors.ts";
import { compileCheck } from "./compile-check.ts";
import type { CompiledSchema } from "./compiled-schema.ts";
import type { JsonValue } from "./json.ts";
import { createReceiveWalk, refuse, refused } from "./receive-walk.ts";
import type { Check, ReceiveWalk } from "./receive-walk.ts";

/** The outcome of receiving a value: the value as it was in memory, or at most 5 bounded issues. */
export type Received =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Reads one value off the wire, by itself; undefined where nothing was sent. Never throws. */
export type Receiver = (json: JsonValue | undefined) => Received;

const absent: Received = Object.freeze({ ok: true, value: undefined });

/**
 * Makes the reader of an output's values, for the far end of a link. It takes nobody's word: what does not fit the
 * schema is refused. Fields that a closed object does not know are dropped, since the far end may be newer. The author's
 * schema does not run, so no transform runs twice, and refinements count as checked where the value comes from.
 *
 * Cheap to make: the schema is compiled when the first value comes.
 */
export function toReceiver(compiled: CompiledSchema): Receiver {
  let check: Check | undefined;
  const { codec, wrapped } = compiled;
  return (json) => {
    if (json === undefined && compiled.optional) return absent;
    const walk = createReceiveWalk();
    const checked = json === undefined ? refuse(walk, "expected a value, received nothing") : run(json, walk);
    if (checked !== refused) return checked;
    // A resource has to say something, so null is how it says undefined.
    return json === null && compiled.optional ? absent : { ok: false, issues: walk.issues };
  };

  function run(json: JsonValue, walk: ReceiveWalk): Received | typeof refused {
    try {
      check ??= compileCheck(compiled.reader());
      const checked = check(json, walk);
      return checked === refused ? refused : { ok: true, value: codec.decode(wrapped ? { value: checked } : checked) };
    } catch (fault) {
      if (!(fault instanceof RangeError)) throw fault;
      walk.path.length = 0;
      return refuse(walk, "nested too deep");
    }
  }
}
