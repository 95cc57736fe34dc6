import { kExposure, type Taggable, type Exposure, type Effect } from "./tag-of.ts";
import { SurfaceError } from "../errors.ts";
import type { TypeProblem } from "./type-problem.ts";
import type { Cell, Collection, Event, Filtered, Procedure, Stream } from "../surface/member.ts";

/** Returns the kind of a member with its article: `a cell`, `an event`. */
export function nameKind({ kind }: Pick<Taggable, "kind">): string {
  return `${kind === "event" ? "an" : "a"} ${kind}`;
}

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

// A table and not a chain of conditionals: only the row of the member's own kind is ever looked at.
/** By kind, a member of the same type with another exposure and effect. */
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
