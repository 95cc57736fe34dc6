import { SurfaceError } from "../errors.ts";
import { kExposure, type Exposure } from "./symbols.ts";
import type { TypeProblem } from "./type-problem.ts";

// An argument that is not a member at all is inferred as any member, whose tag may be each of them.
/** The sentence for an argument that is tagged, may be tagged, or is not a member. */
export type TaggedProblem<TExposure extends Exposure> = [Exposure] extends [TExposure]
  ? TypeProblem<"this is not a member, or its type does not say how it is tagged: pass what cell(), collection(), stream(), event() or procedure() returned">
  : TypeProblem<`this member is tagged already, as a ${Exclude<TExposure, "none">}: one tag a member`>;

/**
 * Refuses an argument that is not a member, for callers who cast.
 *
 * @param tag - the function that was called, as messages name it: `mcpTool()`.
 * @throws SurfaceError `INVALID_MEMBER`.
 */
export function assertMember(member: unknown, tag: string): void {
  if (typeof member === "object" && member !== null && kExposure in member && "kind" in member) return;
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Cannot tag with ${tag}: the argument is not a member; pass what cell(), collection(), stream(), event() or procedure() returned`,
  );
}
