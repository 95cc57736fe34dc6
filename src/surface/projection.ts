import type { SurfaceClient } from "./client.ts";
import type { Surface } from "./define-surface.ts";
import type { Implementation } from "./implementation.ts";
import type { Spec } from "./member.ts";

/** The property of a {@link Projection} with its source and handlers. In this file, so that other apps bundle no more of projections. */
export const kProjection: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.projection");

/** The surface that a projection is a client of, and the function that creates its handlers from that client. */
export interface ProjectionOf<TSource, TSpec> {
  readonly source: Surface<TSource>;
  readonly handlers: (client: SurfaceClient<TSource>) => Implementation<TSpec>;
}

/** A surface whose implementation is a client of another surface. It is a surface like any other, with tags. */
export interface Projection<TSource, TSpec> extends Surface<TSpec> {
  readonly [kProjection]: ProjectionOf<TSource, TSpec>;
}

/** Returns the surface that a projection is a client of; `undefined` for any other surface. */
export function sourceOf(surface: object): Surface<Spec> | undefined {
  if (!Object.hasOwn(surface, kProjection)) return undefined;
  // Only projectSurface() sets it.
  return (Reflect.get(surface, kProjection) as ProjectionOf<Spec, Spec>).source;
}
