import type { EventPage, EventWait, WaitOptions } from "../client.ts";
import { maxWaitMs } from "../owner/event-owner.ts";
import { kMemory, type HandlerContext, type Memory } from "../owner/handler-context.ts";
import { relay } from "../relayed.ts";
import { systemClock } from "../system-clock.ts";
import { pause } from "./pause.ts";

/** An event's client without its types. */
interface AnyEvent {
  recent(input: unknown, options: { readonly signal: AbortSignal }): Promise<EventPage>;
  wait(input: unknown, options: WaitOptions): Promise<EventWait>;
}

/** An event of another surface, and what is made of its occurrences. */
export interface EventFollowed {
  readonly upstream: AnyEvent;
  readonly map: (occurrence: unknown) => unknown;
  readonly input?: (input: unknown) => unknown;
  readonly filter?: (occurrence: unknown) => boolean;
}

/** How far it has come: what it goes on from when it is started again. */
interface Progressed {
  cursor: string;
  /** Seen upstream, and not yet told. */
  readonly pending: unknown[];
}

/** No answer that says nothing is to come sooner than this, in milliseconds. */
const idlePaceMs = 100;

interface Place {
  readonly followed: EventFollowed;
  readonly input: unknown;
  readonly signal: AbortSignal;
}

async function ask<TAnswer>(place: Place, use: () => Promise<TAnswer>): Promise<TAnswer> {
  try {
    return await use();
  } catch (cause) {
    throw relay(cause, { tellsIssues: place.followed.input === undefined });
  }
}

/** Where to go on. Without memory it is for one listener, who hears of what happens from now on. */
async function begin(place: Place, memory: Memory | undefined): Promise<Progressed> {
  // Nobody but this function puts anything into it.
  if (memory?.state !== undefined) return memory.state as Progressed;
  const { followed, input, signal } = place;
  const { cursor, occurrences } = await ask(place, () => followed.upstream.recent(input, { signal }));
  if (memory === undefined) return { cursor, pending: [] };
  const at: Progressed = { cursor, pending: [...occurrences] };
  memory.state = at;
  return at;
}

async function advance(place: Place, at: Progressed, memory: Memory | undefined): Promise<void> {
  const { followed, input, signal } = place;
  const begun = systemClock.now();
  const use = { since: at.cursor, timeoutMs: maxWaitMs, signal };
  const answer = await ask(place, () => followed.upstream.wait(input, use));
  // After a reset too this is where to go on: before the oldest that is kept, none of which was told.
  at.cursor = answer.cursor;
  if (answer.missed !== undefined || answer.reset === true) memory?.lost(answer.missed ?? 0);
  if (answer.status === "fired") at.pending.push(answer.occurrence);
  else if (answer.reset !== true && systemClock.now() - begun < idlePaceMs) await pause(idlePaceMs, signal);
}

/**
 * Follows an event of another surface: what is kept there first, then each further occurrence. It goes on where it was when
 * it is started again, after the occurrence that it failed on. What upstream has lost it says too.
 *
 * @throws what upstream may be said to have failed with, and what the author's functions throw.
 */
export async function* followEvent(followed: EventFollowed, given: unknown, context: HandlerContext): AsyncGenerator {
  const { signal, [kMemory]: memory } = context;
  const { map, filter = () => true } = followed;
  // Known before of a handler that is this one; one by hand that goes on with this says it only now.
  memory?.expect();
  const place: Place = { followed, input: followed.input === undefined ? given : followed.input(given), signal };
  const at = await begin(place, memory);
  while (!signal.aborted) {
    while (at.pending.length > 0) {
      const occurrence = at.pending.shift();
      if (filter(occurrence)) yield map(occurrence);
    }
    memory?.landed();
    await advance(place, at, memory);
  }
}
