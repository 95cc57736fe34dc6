import type { CellClient } from "../client.ts";
import { kMemory, type HandlerContext, type Memory } from "../owner/owned-use.ts";
import type { Reading } from "../reading.ts";
import { relay } from "../relayed.ts";
import { createGone } from "./gathering.ts";
import { pause } from "./pause.ts";
import { upstreamSteps } from "./upstream-steps.ts";

/** Makes an occurrence of a value and the one before it, or `undefined`. */
export type CellMap = (value: unknown, previous: unknown) => unknown;

/** The last value that was known to be the newest. */
interface Known {
  known?: { readonly value: unknown };
}

/** How long a cell that was there is left alone before it is followed again, in milliseconds. */
const againMs = 100;

/** That of one listener, for whom nothing is kept. */
function forgetful(): Memory {
  return { state: undefined, expect() {}, landed() {}, lost() {} };
}

/** What one reading says has happened. */
function tellOf({ value, stale }: Reading, at: Known, map: CellMap): unknown {
  if (stale !== undefined) return undefined;
  const { known } = at;
  if (known !== undefined && Object.is(known.value, value)) return undefined;
  // Before map(), so that a value that it throws at is not put to it again.
  at.known = { value };
  return map(value, known?.value);
}

/**
 * Follows a cell of another surface, for what its changes mean. A connection that is lost is waited for once before it is
 * a failure, and the last value before is then the previous one of the first after.
 *
 * @throws what upstream may be said to have failed with, and what the author's function throws.
 */
export async function* followCell(
  upstream: CellClient<unknown>,
  map: CellMap,
  { signal, [kMemory]: memory = forgetful() }: HandlerContext,
): AsyncGenerator {
  // Nobody but this function puts anything into it.
  const at = (memory.state as Known | undefined) ?? {};
  memory.expect();
  // It has heard of upstream, and failed at what it made of it.
  if (memory.state !== undefined) memory.landed();
  while (!signal.aborted) {
    let isThere = false;
    let lost: unknown = createGone();
    for await (const step of upstreamSteps(() => upstream.readings({ signal }))) {
      if ("failure" in step) {
        lost = relay(step.failure);
        break;
      }
      isThere = true;
      memory.state = at;
      const told = tellOf(step.value, at, map);
      if (told !== undefined) yield told;
      memory.landed();
    }
    if (signal.aborted) return;
    if (!isThere) throw lost;
    await pause(againMs, signal);
  }
}
