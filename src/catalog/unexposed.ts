import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { Catalog } from "./catalog.ts";
import type { MemberExposure } from "./read-exposures.ts";

/** A member that no agent can reach, or a tool that only other tools can call. */
export interface Unexposed {
  readonly name: string;
  readonly kind: string;
  readonly why: string;
}

/** Returns the members that are not exposed, and the internal tools of the catalog. */
export function unexposedOf(
  { members }: Surface<Spec>,
  exposures: readonly MemberExposure[],
  { tools }: Pick<Catalog, "tools">,
): readonly Unexposed[] {
  const exposed = new Set(exposures.map(({ key }) => key));
  const hidden = Object.entries(members)
    .filter(([key]) => !exposed.has(key))
    .map(([name, { kind }]) => ({ name, kind, why: "no tag, and not in expose()" }));
  const internal = tools.filter((tool) => tool.isInternal === true);
  const why = "internal: only other tools may call it";
  return [...hidden, ...internal.map(({ id: name }) => ({ name, kind: "operation", why }))];
}
