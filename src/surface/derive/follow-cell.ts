import type { CellClient } from "../client.ts";
import { canonical } from "../owner/canonical.ts";
import { kMemory, type HandlerContext, type Memory } from "../owner/handler-context.ts";
import type { Reading } from "../reading.ts";
import { relay } from "../relayed.ts";
import { createGone } from "./gathering.ts";
import { pause } from "./pause.ts";
import { upstreamSteps } from "./upstream-steps.ts";

/** Makes an occurrence of a value and the one before it, or `undefined`. */
export type CellMap = (value: unknown, previous: unknown) => unknown;

/** A cell of another surface, and what is made of its changes. */
export interface CellFollowed {
  readonly upstream: CellClient<unknown>;
  readonly map: CellMap;
  /** Of a value and the one before it, as `map` is asked. */
  readonly filter?: (value: unknown, previous: unknown) => boolean;
}

/** The last value that was known to be the newest. */
interface Known {
  known?: { readonly value: unknown; readonly content: string | undefined };
}

/** How long a cell that was there is left alone before it is followed again, in milliseconds. */
const againMs = 100;

/** That of one listener, for whom nothing is kept. */
function forgetful(): Memory {
  return { state: undefined, expect() {}, landed() {}, lost() {} };
}

/** One text for equal values; nothing for what has no end. */
function contentOf(value: unknown): string | undefined {
  try {
    return canonical(value);
  } catch {
    return undefined;
  }
}

/**
 * Keeps a value as the last one, and says whether it is another than before. Of a wire every value is a new object: what is
 * read again after a loss is most often what it was.
 */
function isNews(value: unknown, at: Known): boolean {
  const { known } = at;
  if (known !== undefined && Object.is(known.value, value)) return false;
  const content = contentOf(value);
  at.known = { value, content };
  return content === undefined || content !== known?.content;
}

/** What one reading says has happened. */
function tellOf({ value, stale }: Reading, at: Known, { map, filter = () => true }: CellFollowed): unknown {
  if (stale !== undefined) return undefined;
  const previous = at.known?.value;
  // Before the author is asked, so that a value that a function throws at is not put to it again.
  return isNews(value, at) && filter(value, previous) ? map(value, previous) : undefined;
}

/**
 * Follows a cell of another surface, for what its changes mean. A connection that is lost is waited for once before it is
 * a failure, and the last value before is then the previous one of the first after; where both are equal nothing has
 * happened.
 *
 * @throws what upstream may be said to have failed with, and what the author's functions throw.
 */
export async function* followCell(
  followed: CellFollowed,
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
    for await (const step of upstreamSteps(() => followed.upstream.readings({ signal }))) {
      if ("failure" in step) {
        lost = relay(step.failure);
        break;
      }
      isThere = true;
      memory.state = at;
      const told = tellOf(step.value, at, followed);
      if (told !== undefined) yield told;
      memory.landed();
    }
    if (signal.aborted) return;
    if (!isThere) throw lost;
    await pause(againMs, signal);
  }
}
