import type { SurfaceClient } from "./client.ts";
import type { Surface } from "./define-surface.ts";
import type { Implementation } from "./implementation.ts";
import type { Spec } from "./member.ts";

/** Where a projection keeps what it is made of, and by which it is known. */
export const kProjection: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.projection");

/** What a projection is made of: the surface that it is a client of, and its handlers over a client of that. */
export interface ProjectionOf<TSource, TSpec> {
  readonly source: Surface<TSource>;
  readonly handlers: (client: SurfaceClient<TSource>) => Implementation<TSpec>;
}

/** A surface that is implemented by being a client of another. It is a surface as any other, tags included. */
export interface Projection<TSource, TSpec> extends Surface<TSpec> {
  readonly [kProjection]: ProjectionOf<TSource, TSpec>;
}

/** The surface that one is a projection of; `undefined` for one that is none. */
export function sourceOf(surface: object): Surface<Spec> | undefined {
  if (!Object.hasOwn(surface, kProjection)) return undefined;
  // Only projectSurface() puts it there.
  return (Reflect.get(surface, kProjection) as ProjectionOf<Spec, Spec>).source;
}
