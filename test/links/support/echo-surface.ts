import * as z from "zod";
import { callerKey } from "../../../src/surface/caller.ts";
import { cell, procedure, stream } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { type LiveSurface, implementSurface } from "../../../src/surface/implement-surface.ts";
import { cellSource, type WritableSource } from "../../../src/surface/source.ts";

/** A surface for whatever carries one: an answer, a value, a wait, numbers without an end, more than a frame takes,
 * the caller, and the trace context. */
export const echo = defineSurface("echo", {
  say: procedure({ input: z.string(), output: z.string() }),
  wait: procedure({ output: z.string() }),
  blow: procedure({ input: z.number(), output: z.string() }),
  who: procedure({ output: z.unknown() }),
  traced: procedure({ output: z.unknown() }),
  count: cell({ schema: z.number() }),
  numbers: stream({ output: z.number() }),
});

type EchoSpec = (typeof echo)["members"];

/** A live {@link echo}, and how its waits end. */
export interface LiveEcho {
  readonly live: LiveSurface<EchoSpec>;
  readonly count: WritableSource<number>;
  /** How many waits were aborted. */
  readonly aborted: () => number;
  /** Answers every wait that is under way. */
  readonly release: () => void;
  readonly waiting: () => number;
}

/** Starts a live {@link echo}; whoever asked for it closes it. */
export function startEcho(): LiveEcho {
  const count = cellSource(1);
  const waits = new Set<() => void>();
  let aborted = 0;
  const live = implementSurface(echo, {
    say: (text) => text,
    wait: (_input, { signal }) =>
      new Promise<string>((resolve, reject) => {
        const release = (): void => resolve("released");
        waits.add(release);
        signal.addEventListener("abort", () => {
          aborted += 1;
          waits.delete(release);
          reject(signal.reason);
        });
      }),
    blow: (bytes) => "x".repeat(bytes),
    traced: (_input, { trace }) => trace ?? null,
    who: (_input, { caller }) => ({ caller, key: callerKey(caller) }),
    count,
    numbers: async function* () {
      for (let number = 1; ; number += 1) {
        yield number;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  });
  return {
    live,
    count,
    aborted: () => aborted,
    waiting: () => waits.size,
    release: () => {
      for (const release of waits) release();
      waits.clear();
    },
  };
}
