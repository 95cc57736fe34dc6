import type { StandardSchemaV1 } from "@standard-schema/spec";
import { SurfaceError } from "../errors.ts";
import { assertEffect, readToolOptions } from "./read-tag-options.ts";
import { assertUntagged, type Retagged, type TaggedProblem } from "./retag.ts";
import { kEffect, kExposure, kTagOptions, type Effect, type Taggable } from "./tag-of.ts";
import type { Confirm, OnlyToolOptions, SyntheticField, ToolOptions } from "./tool-options.ts";
import type { KeysOfUnion, RefuseKeys, TypeProblem } from "./type-problem.ts";

/** The effect of the option `mutates`. Only a literal `false` reads: `boolean`, `any` and the like count as mutating. */
export type DeclaredEffect<TSaid> = [TSaid, false] extends [false, TSaid]
  ? true extends TSaid
    ? "mutates"
    : "read"
  : "mutates";

/**
 * Member, options -> the effect after tagging. A destructive tool mutates. Options that are cast to `never` count as mutating.
 */
export type EffectOf<TMember, TOptions> = [TOptions] extends [never]
  ? "mutates"
  : TOptions extends { readonly mutates: infer Said }
    ? DeclaredEffect<Said>
    : TOptions extends { readonly destructive: true }
      ? "mutates"
      : TMember extends { readonly [kEffect]: infer Known extends Effect }
        ? Known
        : "unstated";

/** The keys of every arm of a member's input; `never` without an input. */
type InputKeys<TMember> = TMember extends { readonly input: infer Input extends StandardSchemaV1 }
  ? KeysOfUnion<StandardSchemaV1.InferInput<Input>>
  : never;

/** Options of a tool that changes something. */
type ClaimsChange = { readonly mutates: true } | { readonly destructive: true };

/** `unknown` when options agree with themselves and with their member, else the sentence that says why not. */
export type ContradictionProblem<TMember, TOptions> = TOptions extends ClaimsChange
  ? TMember extends { readonly kind: "event" | "stream" }
    ? TypeProblem<`${TMember["kind"]} tools only read, by their kind: they can neither mutate nor destroy`>
    : TMember extends { readonly [kEffect]: "read" }
      ? TypeProblem<"readOnly() says that this member does not mutate, its options say that it does">
      : ToolOptionsProblem<TOptions>
  : unknown;

/** `unknown` when tool options agree with themselves, else the sentence that says why not. */
export type ToolOptionsProblem<TOptions> = TOptions extends { readonly mutates: false; readonly destructive: true }
  ? TypeProblem<"a tool that does not mutate cannot be destructive">
  : unknown;

/** `unknown` when the member may be a tool by its kind and fields, else the sentence that says why not. */
export type ToolKindProblem<TMember extends Taggable> = TMember["kind"] extends "procedure"
  ? unknown
  : TMember["kind"] extends "event" | "stream"
    ? RefuseKeys<
        InputKeys<TMember> & SyntheticField<TMember["kind"]>,
        "the input field ",
        ` has the name of an argument that every ${TMember["kind"]} tool already takes: rename it`
      >
    : TypeProblem<`a ${Exclude<TMember["kind"], "procedure" | "event" | "stream">} cannot be a tool: tag it with mcpResource()`>;

/** `unknown` when `mcpTool(member, options)` is legal, else the sentence that says why not. */
export type ToolProblem<TMember extends Taggable, TOptions> = [TMember[typeof kExposure]] extends ["none"]
  ? ToolKindProblem<TMember> & ContradictionProblem<TMember, TOptions>
  : TaggedProblem<TMember[typeof kExposure]>;

/** The validated input of a member's handler; `undefined` without an input. */
export type InputOf<TMember> = TMember extends { readonly input: infer Input extends StandardSchemaV1 }
  ? StandardSchemaV1.InferOutput<Input>
  : undefined;

// Gives the parameters of an inline function their types. Does not check: the intersection with the inferred options also accepts
// a number, because all keys of the object are optional.
/** The options of a tag, whose `confirm` has the input type of the member. */
interface TypedConfirm<TMember> {
  readonly confirm?: Confirm<InputOf<TMember>>;
}

/** `unknown` when `confirm` fits the member, else a sentence. */
export type ConfirmOptionProblem<TMember, TOptions> = [TOptions] extends [TypedConfirm<TMember>]
  ? unknown
  : { readonly confirm: TypeProblem<'"confirm" is not what this option takes'> };

/** `unknown` when a tag has all these options and `confirm` fits the member, else the sentence that says why not. */
type TagOptionsProblem<TMember, TOptions> = "confirm" extends keyof TOptions
  ? OnlyToolOptions<TOptions> & ConfirmOptionProblem<TMember, TOptions>
  : OnlyToolOptions<TOptions>;

// Without a type for `confirm`: the compiler would use it for the parameters of an inline function, instead of the member's.
/** The options of a tag on any member. */
type TagToolOptions = Omit<ToolOptions, "confirm"> & { readonly confirm?: unknown };

/** Returns the effect after tagging, as {@link EffectOf} computes it. */
function effectOf(member: Taggable, options: ToolOptions): Effect {
  if (options.mutates !== undefined) return options.mutates ? "mutates" : "read";
  if (options.destructive === true) return "mutates";
  return member[kEffect] ?? "unstated";
}

/**
 * Tags a procedure, event or stream as a tool that an agent may call. Returns a tagged copy; the argument is not changed. A
 * procedure tool is advertised as mutating and destructive unless `readOnly()` or its options say otherwise.
 *
 * @throws SurfaceError `ALREADY_EXPOSED`, `WRONG_KIND`, `CONTRADICTION` or `INVALID_OPTION`, for callers who cast: each is a
 * compile error too.
 * @example
 * ```ts
 * const rerun = mcpTool(procedure({ input: z.object({ node: z.string() }) }), { title: "Rerun a node" });
 * ```
 */
export function mcpTool<const $Member extends Taggable, const $Options extends TagToolOptions = Record<never, never>>(
  member: $Member & ToolProblem<$Member, $Options>,
  options?: $Options & TypedConfirm<$Member> & TagOptionsProblem<$Member, $Options>,
): Retagged<$Member, "tool", EffectOf<$Member, $Options>> {
  const doing = assertUntagged(member, "tool");
  if (!["procedure", "event", "stream"].includes(member.kind)) {
    throw new SurfaceError("WRONG_KIND", `${doing}: only procedures, events and streams can be`);
  }
  const given: ToolOptions = options ?? {};
  const tagOptions = readToolOptions(given, doing);
  assertEffect(member, tagOptions, doing);
  const tagged = {
    ...member,
    [kExposure]: "tool",
    [kEffect]: effectOf(member, tagOptions),
    [kTagOptions]: tagOptions,
  };
  // The compiler cannot follow a spread through a mapped type; only the three symbols differ.
  return Object.freeze(tagged) as unknown as Retagged<$Member, "tool", EffectOf<$Member, $Options>>;
}
