import type { Schema } from "../schema/standard.ts";
import type { Effect, Exposure, kEffect, kExposure } from "../tags/tag-of.ts";

/** A schema, or `undefined` for a member without input or output. */
export type MaybeSchema = Schema | undefined;

/** A type parameter of a member that is inferred from its definition only, and not, for a missing schema, from any member. */
export type Settled<TSchema extends MaybeSchema> = TSchema extends infer Known extends MaybeSchema ? Known : never;

/** The texts of a member, for people and agents. */
export interface MemberMeta {
  readonly title?: string;
  readonly description?: string;
}

/** One value that changes. Generic over the schema and not over the inferred value, which would cost the compiler more. */
export interface Cell<TValue extends Schema = Schema, TExposure extends Exposure = "none"> extends MemberMeta {
  readonly kind: "cell";
  readonly schema: TValue;
  readonly default: unknown;
  readonly [kExposure]: TExposure;
}

/** Values by key. Keys are scalars, or flat objects of scalars. */
export interface Collection<
  TKey extends Schema = Schema,
  TValue extends Schema = Schema,
  TExposure extends Exposure = "none",
> extends MemberMeta {
  readonly kind: "collection";
  readonly key: TKey;
  readonly schema: TValue;
  /** The schema of the filter that its pages take. */
  readonly filter?: MaybeSchema;
  readonly [kExposure]: TExposure;
}

// Not a parameter of `Collection`: few have a filter, and a parameter costs the compiler time for all. The conditional type keeps
// the compiler from inferring a filter from the type of any member.
/** The property `filter` of a collection; `unknown` without a filter. */
export type Filtered<TFilter> = TFilter extends infer Known extends Schema ? { readonly filter: Known } : unknown;

/** Frames that are computed from an input while a client listens. */
export interface Stream<
  TInput extends MaybeSchema = MaybeSchema,
  TOutput extends Schema = Schema,
  TExposure extends Exposure = "none",
> extends MemberMeta {
  readonly kind: "stream";
  readonly input: TInput;
  readonly output: TOutput;
  readonly [kExposure]: TExposure;
}

/** Single occurrences. */
export interface Event<
  TInput extends MaybeSchema = MaybeSchema,
  TOutput extends Schema = Schema,
  TExposure extends Exposure = "none",
> extends MemberMeta {
  readonly kind: "event";
  readonly input: TInput;
  readonly output: TOutput;
  readonly replayLast: boolean;
  readonly [kExposure]: TExposure;
}

/** An action with an input, an output, and values of progress in between. */
export interface Procedure<
  TInput extends MaybeSchema = MaybeSchema,
  TOutput extends MaybeSchema = MaybeSchema,
  TProgress extends MaybeSchema = MaybeSchema,
  TExposure extends Exposure = "none",
  TEffect extends Effect = Effect,
> extends MemberMeta {
  readonly kind: "procedure";
  readonly input: TInput;
  readonly output: TOutput;
  readonly progress: TProgress;
  readonly errors: Readonly<Record<string, MaybeSchema>>;
  readonly [kExposure]: TExposure;
  readonly [kEffect]: TEffect;
}

/** Any member, tagged or not. */
export type Member =
  | Cell<Schema, Exposure>
  | Collection<Schema, Schema, Exposure>
  | Stream<MaybeSchema, Schema, Exposure>
  | Event<MaybeSchema, Schema, Exposure>
  | Procedure<MaybeSchema, MaybeSchema, MaybeSchema, Exposure>;

/** The discriminant of a member. */
export type Kind = Member["kind"];

/** Any member of one kind, tagged or not. */
export type MemberOfKind<TKind extends Kind> = Extract<Member, { readonly kind: TKind }>;

/** The members of a surface by key; a dot in a key is a namespace. */
export type Spec = Readonly<Record<string, Member>>;

/** The keys of `TSpec` whose members are of one kind. */
type NamesOf<TSpec, TKind extends Kind> = {
  [Key in keyof TSpec]: TSpec[Key] extends { readonly kind: TKind } ? Key : never;
}[keyof TSpec] &
  string;

/** The keys of a surface's cells. */
export type CellName<TSpec> = NamesOf<TSpec, "cell">;

/** The keys of a surface's collections. */
export type CollectionName<TSpec> = NamesOf<TSpec, "collection">;

/** The keys of a surface's streams. */
export type StreamName<TSpec> = NamesOf<TSpec, "stream">;

/** The keys of a surface's events. */
export type EventName<TSpec> = NamesOf<TSpec, "event">;

/** The keys of a surface's procedures. */
export type ProcedureName<TSpec> = NamesOf<TSpec, "procedure">;
