import type { Spec } from "../surface/member.ts";
import type { Projection } from "../surface/project-surface.ts";
import type { Link } from "./link.ts";

/** A link to a projection, over a link to the surface that it comes from. */
export function projected<TSource extends Spec, TSpec extends Spec>(
  projection: Projection<TSource, TSpec>,
  link: Link,
): Link {
  void projection;
  return link;
}
