import * as z from "zod";
import { cell, collection, event, procedure, stream } from "../../../src/surface/define-members.ts";
import { surfaceClientRef, implementProjection, projectSurface } from "../../../src/surface/project-surface.ts";
import type { SurfaceClient } from "../../../src/surface/client.ts";
import { defineSurface, type Surface } from "../../../src/surface/define-surface.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { implementSurface, type LiveSurface } from "../../../src/surface/implement-surface.ts";
import type { Implementation } from "../../../src/surface/implementation.ts";
import type { Spec } from "../../../src/surface/member.ts";
import { cellSource, type WritableSource } from "../../../src/surface/source.ts";

/** A surface for others to be clients of: one member of each kind. */
export const mill = defineSurface("mill", {
  speed: cell({ schema: z.number() }),
  load: cell({ schema: z.number() }),
  sacks: collection({ key: z.string(), schema: z.object({ kg: z.number() }) }),
  noise: stream({ output: z.string() }),
  belt: stream({ input: z.object({ belt: z.string() }), output: z.string() }),
  ground: event({ output: z.number() }),
  grind: procedure({ input: z.object({ kg: z.number() }), output: z.number(), progress: z.string() }),
});

export type MillSpec = (typeof mill)["members"];

export interface Mill {
  readonly live: LiveSurface<MillSpec>;
  readonly speed: WritableSource<number>;
  readonly load: WritableSource<number>;
  readonly sacks: WritableSource<ReadonlyMap<string, { kg: number }>>;
}

/** Handlers that nobody need look at, for tests of the others. */
export function millHandlers(): Implementation<MillSpec> {
  return {
    speed: cellSource(1),
    load: cellSource(1),
    sacks: cellSource(new Map()),
    async *noise() {
      yield "brr";
    },
    async *belt({ belt }) {
      yield `${belt} 1`;
      yield `${belt} 2`;
    },
    async *ground() {
      yield 1;
    },
    grind: ({ kg }) => kg,
  };
}

export function startMill(handlers: Partial<Implementation<MillSpec>> = {}): Mill {
  const speed = cellSource(1);
  const load = cellSource(10);
  const sacks = cellSource<ReadonlyMap<string, { kg: number }>>(
    new Map([
      ["b", { kg: 5 }],
      ["a", { kg: 50 }],
    ]),
  );
  const live = implementSurface(mill, { ...millHandlers(), speed, load, sacks, ...handlers }, { onFault: () => {} });
  return { live, speed, load, sacks };
}

export interface OpenedProjection<TSpec> {
  readonly live: LiveSurface<TSpec>;
  readonly client: SurfaceClient<TSpec>;
  readonly faults: Fault[];
}

/** A projection of a live surface in this process, with a client. */
export function openProjection<TSource extends Spec, TSpec extends Spec>(
  upstream: LiveSurface<TSource>,
  surface: Surface<TSpec>,
  handlers: (client: SurfaceClient<TSource>) => Implementation<TSpec>,
): OpenedProjection<TSpec> {
  const faults: Fault[] = [];
  const projection = projectSurface(upstream.surface, surface, handlers);
  const live = implementProjection(projection, surfaceClientRef(upstream), {
    onFault: (fault) => void faults.push(fault),
  });
  return { live, client: surfaceClientRef(live).client, faults };
}

/** A promise that a test settles, as an upstream that hangs. */
export function createHang(): { readonly hung: Promise<void>; readonly release: () => void } {
  let release = (): void => {};
  const hung = new Promise<void>((resolve) => (release = resolve));
  return { hung, release };
}

/** Collects the values of a watch. `over` resolves when it has ended or failed. */
export function note<TValue>(values: AsyncIterable<TValue>): { readonly seen: TValue[]; readonly over: Promise<void> } {
  const seen: TValue[] = [];
  const run = async (): Promise<void> => {
    for await (const value of values) seen.push(value);
  };
  return { seen, over: run().catch(() => {}) };
}
