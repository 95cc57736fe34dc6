import type { CellClient } from "../client.ts";
import { canonical } from "../owner/canonical.ts";
import { kMemory, type HandlerContext, type HandlerMemory } from "../owner/handler-context.ts";
import type { Reading } from "../reading.ts";
import { createUpstreamEnded, pause, upstreamSteps } from "./upstream.ts";

/** A cell of another surface and the functions of the author, without their types. */
export interface FollowedCell {
  readonly upstream: CellClient<unknown>;
  /** Returns an occurrence, or `undefined`. */
  readonly map: (value: unknown, previous: unknown) => unknown;
  readonly filter?: (value: unknown, previous: unknown) => boolean;
}

/** The last value that was known to be the newest. */
interface LastValue {
  known?: { readonly value: unknown; readonly content: string | undefined };
}

/** Milliseconds until a cell that was there, and ended, is followed again. */
const againMs = 100;

/** Creates the memory of one listener, which keeps nothing. */
function createNoMemory(): HandlerMemory {
  return { state: undefined, expectReplay() {}, replayed() {}, lost() {} };
}

/** Returns one text for equal values; `undefined` for a value with a cycle. */
function contentOf(value: unknown): string | undefined {
  try {
    return canonical(value);
  } catch {
    return undefined;
  }
}

/** Keeps a value as the last one. Returns true if its content differs: every value that comes over a wire is a new object. */
function setLast(value: unknown, last: LastValue): boolean {
  const { known } = last;
  if (known !== undefined && Object.is(known.value, value)) return false;
  const content = contentOf(value);
  last.known = { value, content };
  return content === undefined || content !== known?.content;
}

function toOccurrence({ value, stale }: Reading, last: LastValue, { map, filter = () => true }: FollowedCell): unknown {
  if (stale !== undefined) return undefined;
  const previous = last.known?.value;
  // Set before the author's code runs, so that a value it throws at is not passed to it again.
  return setLast(value, last) && filter(value, previous) ? map(value, previous) : undefined;
}

/** Yields an occurrence for each change of a cell that `map` returns one for. Follows again after a loss. @throws a failure without values. */
export async function* followCell(
  followed: FollowedCell,
  { signal, [kMemory]: memory = createNoMemory() }: HandlerContext,
): AsyncGenerator {
  // Only this function sets it.
  const last = (memory.state as LastValue | undefined) ?? {};
  memory.expectReplay();
  // It has heard upstream before, and failed in the author's code.
  if (memory.state !== undefined) memory.replayed();
  while (!signal.aborted) {
    let isThere = false;
    let lost: unknown = createUpstreamEnded();
    for await (const step of upstreamSteps(() => followed.upstream.readings({ signal }))) {
      if ("failure" in step) {
        lost = step.failure;
        break;
      }
      isThere = true;
      memory.state = last;
      const occurrence = toOccurrence(step.value, last, followed);
      if (occurrence !== undefined) yield occurrence;
      memory.replayed();
    }
    if (signal.aborted) return;
    if (!isThere) throw lost;
    await pause(againMs, signal);
  }
}
