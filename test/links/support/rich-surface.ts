import * as z from "zod";
import { Refusal } from "../../../src/errors.ts";
import { cell } from "../../../src/surface/cell.ts";
import { collection } from "../../../src/surface/collection.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { event } from "../../../src/surface/event.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { procedure } from "../../../src/surface/procedure.ts";
import { cellSource } from "../../../src/surface/source.ts";
import { stream } from "../../../src/surface/stream.ts";

/** A value that JSON does not have, in every form that the wire knows. */
export const treasure = z.object({
  at: z.date(),
  size: z.bigint(),
  parts: z.map(z.string(), z.date()),
  tags: z.set(z.bigint()),
  note: z.string().optional(),
});

/** A member of every kind, with values that JSON does not have. */
export const rich = defineSurface("rich", {
  chest: cell({ schema: treasure }),
  maybe: cell({ schema: z.date().optional() }),
  days: collection({ key: z.date(), schema: treasure }),
  clock: stream({ input: z.object({ from: z.bigint() }), output: z.date() }),
  ticks: stream({ output: z.number() }),
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

/** What {@link openRich} gives. */
export type Rich = ReturnType<typeof openRich>;

export const day = new Date("2026-01-02T03:04:05.678Z");

/** One treasure. */
export function makeTreasure(size = 1n): z.infer<typeof treasure> {
  return { at: day, size, parts: new Map([["lid", day]]), tags: new Set([2n, 3n]) };
}

/** A live surface with a member of every kind, and what a test needs to watch it by. */
export function openRich() {
  const faults: Fault[] = [];
  const chest = cellSource(makeTreasure());
  const maybe = cellSource<Date | undefined>(undefined);
  const days = cellSource<ReadonlyMap<Date, z.infer<typeof treasure>>>(new Map([[day, makeTreasure()]]));
  const state = {
    pulled: 0,
    ended: 0,
    aborted: 0,
    calls: 0,
    release: (): void => {},
    ring: (_set: Set<number>): void => {},
  };
  const rings: Set<number>[] = [];
  let wake = (): void => {};
  state.ring = (set) => {
    rings.push(set);
    wake();
  };
  const live = implementSurface(
    rich,
    {
      chest,
      maybe,
      days: {
        keys: () => days.get().keys(),
        get: (key) => [...days.get()].find(([at]) => at.getTime() === key.getTime())?.[1],
        subscribe: (fn) => days.subscribe((map) => fn({ set: [...map.keys()], removed: [] })),
      },
      clock: async function* ({ from }) {
        for (let at = Number(from); at < Number(from) + 3; at += 1) yield new Date(at);
      },
      ticks: async function* (_input, { signal }) {
        try {
          while (!signal.aborted) {
            state.pulled += 1;
            yield state.pulled;
          }
        } finally {
          state.ended += 1;
        }
      },
      rang: async function* (_input, { signal }) {
        signal.addEventListener("abort", () => wake());
        while (!signal.aborted) {
          const set = rings.shift();
          if (set === undefined) await new Promise<void>((resolve) => (wake = resolve));
          else yield set;
        }
      },
      async *bury({ at, how }, { signal }) {
        state.calls += 1;
        if (how === "refused") throw new Refusal("TAKEN", "somebody was here", { by: at });
        if (how === "badly refused") throw new Refusal("TAKEN", "somebody was here", { by: "x" });
        if (how === "freely refused") throw new Refusal("ODD", "no", { any: ["thing"] });
        if (how === "broken") throw new Error("secret");
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
      },
      plain: () => undefined,
      echo: (value) => value,
    },
    { onFault: (fault) => void faults.push(fault) },
  );
  return { live, chest, maybe, days, state, faults };
}
