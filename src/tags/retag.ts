import { SurfaceError } from "../errors.ts";
import type { Cell, Collection, Event, Filtered, Procedure, Stream } from "../surface/member.ts";
import { kExposure, type Effect, type Exposure, type Taggable } from "./tag-of.ts";
import type { TypeProblem } from "./type-problem.ts";

/** Returns the kind of a member with its article: `a cell`, `an event`. */
export function nameKind({ kind }: Pick<Taggable, "kind">): string {
  return `${kind === "event" ? "an" : "a"} ${kind}`;
}

// The compiler infers an argument that is not a member as any member, which may have any tag.
/** The sentence for an argument that is tagged, may be tagged, or is not a member. */
export type TaggedProblem<TExposure extends Exposure> = [Exposure] extends [TExposure]
  ? TypeProblem<"this is not a member, or its type does not say how it is tagged: pass what cell(), collection(), stream(), event() or procedure() returned">
  : TypeProblem<`this member is tagged already, as a ${Exclude<TExposure, "none">}: one tag a member`>;

/**
 * Refuses an argument that is not a member, for callers who cast.
 *
 * @param tag - the name of the called function: `mcpTool()`.
 * @throws SurfaceError `INVALID_MEMBER`.
 */
export function assertMember(member: unknown, tag: string): void {
  if (typeof member === "object" && member !== null && kExposure in member && "kind" in member) return;
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Cannot tag with ${tag}: the argument is not a member; pass the result of cell(), collection(), stream(), event() or procedure()`,
  );
}

/**
 * Refuses an argument that is not a member, or that has a tag already, for callers who cast.
 *
 * @returns the start of messages about the new tag.
 * @throws SurfaceError `INVALID_MEMBER` or `ALREADY_EXPOSED`.
 */
export function assertUntagged(member: Taggable, as: "resource" | "tool"): string {
  assertMember(member, as === "tool" ? "mcpTool()" : "mcpResource()");
  const doing = `Cannot tag ${nameKind(member)} as a ${as}`;
  if (member[kExposure] === "none") return doing;
  throw new SurfaceError("ALREADY_EXPOSED", `${doing}: it is tagged already, as a ${member[kExposure]}`);
}

// A table and not a chain of conditionals: the compiler evaluates only the row of the member's kind.
/** Kind -> a member of the same type with another exposure and effect. */
interface RetaggedByKind<TMember, TExposure extends Exposure, TEffect extends Effect> {
  readonly cell: TMember extends Cell<infer Value, Exposure> ? Cell<Value, TExposure> : never;
  readonly collection: TMember extends Collection<infer Key, infer Value, Exposure>
    ? Collection<Key, Value, TExposure> &
        (TMember extends { readonly filter: infer Filter } ? Filtered<Filter> : unknown)
    : never;
  readonly stream: TMember extends Stream<infer Input, infer Output, Exposure>
    ? Stream<Input, Output, TExposure>
    : never;
  readonly event: TMember extends Event<infer Input, infer Output, Exposure> ? Event<Input, Output, TExposure> : never;
  readonly procedure: TMember extends Procedure<infer Input, infer Output, infer Progress, Exposure>
    ? Procedure<Input, Output, Progress, TExposure, TEffect>
    : never;
}

/** A member of the same type, exposed as `TExposure` and with effect `TEffect`. */
export type Retagged<
  TMember extends { readonly kind: string },
  TExposure extends Exposure,
  TEffect extends Effect,
> = RetaggedByKind<TMember, TExposure, TEffect>[TMember["kind"] & keyof RetaggedByKind<TMember, TExposure, TEffect>];
