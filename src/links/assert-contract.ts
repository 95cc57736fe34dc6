import { SurfaceError } from "../errors.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Member, Spec } from "../surface/member.ts";
import type { ReachedSurface } from "./reach-surface.ts";

/** Where the schemas of a member stand, whatever its kind. */
const parts = ["key", "schema", "input", "output", "progress"] as const;

function mismatch(surface: string, problem: string): SurfaceError {
  return new SurfaceError("CONTRACT_MISMATCH", `Connecting to surface "${surface}": ${problem}`);
}

function toProblem(key: string, asked: Member, live: Member | undefined): string | undefined {
  if (live === asked) return undefined;
  if (live === undefined) return `the live surface has no member "${key}"`;
  if (live.kind !== asked.kind) return `"${key}" must be a ${asked.kind}, and is a ${live.kind} of the live surface`;
  const part = parts.find((name) => Reflect.get(asked, name) !== Reflect.get(live, name));
  if (part === undefined) return undefined;
  return `"${part}" of "${key}" must be the same schema object as that of the live surface, and is another one`;
}

/**
 * Refuses a live surface, in this process, that is not what is asked for: values would be checked by other schemas than
 * those that are shown. Schemas are compared by identity, which is all that can be known of them. Tags and words may
 * differ, and the live surface may have more members.
 *
 * @throws SurfaceError `CONTRACT_MISMATCH` naming the first member that differs.
 */
export function assertContract(asked: Surface<Spec>, live: Pick<ReachedSurface, "member">): void {
  for (const [key, member] of Object.entries(asked.members)) {
    const problem = toProblem(key, member, live.member(key));
    if (problem !== undefined) throw mismatch(asked.name, problem);
  }
}
