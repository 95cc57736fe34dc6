import * as z from "zod";
import { Refusal } from "../../../src/errors.ts";
import { cell, collection, event, procedure, stream } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import type { HandlerContext } from "../../../src/surface/owner/handler-context.ts";
import { cellSource } from "../../../src/surface/source.ts";

/** A value that JSON does not have, in every form that the wire knows. */
export const treasure = z.object({
  at: z.date(),
  size: z.bigint(),
  parts: z.map(z.string(), z.date()),
  tags: z.set(z.bigint()),
  note: z.string().optional(),
});

/** One treasure. */
export type Treasure = z.infer<typeof treasure>;

const place = z.object({ row: z.number(), name: z.string().optional() });

/** A member of every kind, with values that JSON does not have. */
export const rich = defineSurface("rich", {
  chest: cell({ schema: treasure }),
  maybe: cell({ schema: z.date().optional() }),
  places: collection({ key: place, schema: treasure }),
  clock: stream({ input: z.object({ from: z.bigint() }), output: z.date() }),
  ticks: stream({ input: z.literal("all"), output: z.number() }),
  rang: event({ output: z.set(z.number()), replayLast: true }),
  bury: procedure({
    input: z.object({ at: z.date(), how: z.string() }),
    output: treasure,
    progress: z.object({ at: z.date() }),
    errors: { TAKEN: z.object({ by: z.date() }), GONE: undefined },
  }),
  plain: procedure({}),
  echo: procedure({ input: z.unknown(), output: z.unknown() }),
});

/** Some day. */
export const day = new Date("2026-01-02T03:04:05.678Z");

/** Makes a treasure. */
export function makeTreasure(size = 1n): Treasure {
  return { at: day, size, parts: new Map([["lid", day]]), tags: new Set([2n, 3n]) };
}

/** What a test sees of the handlers, and moves them by. */
class Doings {
  pulled = 0;
  ended = 0;
  aborted = 0;
  calls = 0;
  release = (): void => {};
  readonly rings: Set<number>[] = [];
  wake = (): void => {};

  ring(set: Set<number>): void {
    this.rings.push(set);
    this.wake();
  }
}

function refuse(at: Date, how: string): void {
  if (how === "refused") throw new Refusal("TAKEN", "somebody was here", { by: at });
  if (how === "badly refused") throw new Refusal("TAKEN", "somebody was here", { by: "x" });
  if (how === "freely refused") throw new Refusal("ODD", "no", { any: ["thing"] });
  if (how === "broken") throw new Error("secret");
}

async function* bury(given: { at: Date; how: string }, state: Doings, { signal }: HandlerContext) {
  const { at, how } = given;
  state.calls += 1;
  refuse(at, how);
  yield { at };
  yield { at: new Date(at.getTime() + 1) };
  if (how === "slow") {
    await new Promise<void>((resolve) => {
      state.release = resolve;
      signal.addEventListener("abort", () => resolve());
    });
    if (signal.aborted) state.aborted += 1;
  }
  return makeTreasure();
}

async function* tick(state: Doings, { signal }: HandlerContext) {
  try {
    while (!signal.aborted) {
      state.pulled += 1;
      yield state.pulled;
    }
  } finally {
    state.ended += 1;
  }
}

async function* ring(state: Doings, { signal }: HandlerContext) {
  signal.addEventListener("abort", () => state.wake());
  while (!signal.aborted) {
    const set = state.rings.shift();
    if (set === undefined) await new Promise<void>((resolve) => (state.wake = resolve));
    else yield set;
  }
}

/** A live surface with a member of every kind, and what a test needs to watch it by. */
export function openRich() {
  const faults: Fault[] = [];
  const state = new Doings();
  const chest = cellSource(makeTreasure());
  const maybe = cellSource<Date | undefined>(undefined);
  const places = cellSource<ReadonlyMap<number, Treasure>>(new Map([[1, makeTreasure()]]));
  const live = implementSurface(
    rich,
    {
      chest,
      maybe,
      places: {
        keys: () => [...places.get().keys()].map((row) => ({ row })),
        get: ({ row }) => places.get().get(row),
        subscribe: (fn: (change: { set: { row: number }[]; removed: [] }) => void) =>
          places.subscribe((map) => fn({ set: [...map.keys()].map((row) => ({ row })), removed: [] })),
      },
      clock: async function* ({ from }) {
        for (let at = Number(from); at < Number(from) + 3; at += 1) yield new Date(at);
      },
      ticks: (_input, context) => tick(state, context),
      rang: (_input, context) => ring(state, context),
      bury: (given, context) => bury(given, state, context),
      plain: () => undefined,
      echo: (value) => value,
    },
    { onFault: (fault) => void faults.push(fault) },
  );
  return { live, chest, maybe, places, state, faults };
}
