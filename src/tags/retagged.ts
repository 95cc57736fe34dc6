import type { Cell, Collection, Event, Filtered, Procedure, Stream } from "../surface/member.ts";
import type { Effect, Exposure } from "./symbols.ts";

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
