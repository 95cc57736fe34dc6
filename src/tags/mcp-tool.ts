import type { StandardSchemaV1 } from "@standard-schema/spec";
import { SurfaceError } from "../errors.ts";
import { keepConfirm } from "./confirm.ts";
import type { Confirm, SyntheticField, OnlyToolOptions, ToolOptions } from "./tool-options.ts";
import { keepLooks } from "./looks.ts";
import { nameKind, assertMember, type TaggedProblem, type Retagged } from "./retag.ts";
import { assertEffect, readToolOptions } from "./read-tag-options.ts";
import { keepScopes } from "./scopes.ts";
import { kEffect, kExposure, kTagOptions, type Effect, type Taggable } from "./tag-of.ts";
import type { RefuseKeys, TypeProblem } from "./type-problem.ts";

/** The effect that `mutates` says. Only a literal `false` reads: `boolean`, `any` and the like count as mutating. */
export type SaidEffect<TSaid> = [TSaid, false] extends [false, TSaid]
  ? true extends TSaid
    ? "mutates"
    : "read"
  : "mutates";

/** member, options -> the effect after tagging. What destroys mutates, and options asserted to be `never` may say so. */
export type EffectOf<TMember, TOptions> = [TOptions] extends [never]
  ? "mutates"
  : TOptions extends { readonly mutates: infer Said }
    ? SaidEffect<Said>
    : TOptions extends { readonly destructive: true }
      ? "mutates"
      : TMember extends { readonly [kEffect]: infer Known extends Effect }
        ? Known
        : "unstated";

/** The keys of every arm of a member's input, or `never` where it has none. */
type InputKeys<TMember> = TMember extends { readonly input: infer Input extends StandardSchemaV1 }
  ? KeysOfArms<StandardSchemaV1.InferInput<Input>>
  : never;

/** union of objects -> the keys of them all, where `keyof` gives those that they share. */
type KeysOfArms<TUnion> = TUnion extends unknown ? keyof TUnion : never;

/** Options that say, one way or the other, that a call changes something. */
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

/** The validated input of a member's handler; `undefined` where it takes none. */
export type InputOf<TMember> = TMember extends { readonly input: infer Input extends StandardSchemaV1 }
  ? StandardSchemaV1.InferOutput<Input>
  : undefined;

// By this the compiler types the parameters of a function. It does not check: with the options as they were inferred it is an
// intersection, and a number fits one with an object whose keys are all optional.
/** The options of a tag, whose `confirm` knows the input of the member. */
interface TypedConfirm<TMember> {
  readonly confirm?: Confirm<InputOf<TMember>>;
}

/** `unknown` when `confirm` fits the member, else the sentence that says that it does not. */
export type ConfirmOptionProblem<TMember, TOptions> = [TOptions] extends [TypedConfirm<TMember>]
  ? unknown
  : { readonly confirm: TypeProblem<'"confirm" is not what this option takes'> };

/** `unknown` when a tag has these options and its `confirm` fits the member, else the sentence that says why not. */
type TagOptionsProblem<TMember, TOptions> = "confirm" extends keyof TOptions
  ? OnlyToolOptions<TOptions> & ConfirmOptionProblem<TMember, TOptions>
  : OnlyToolOptions<TOptions>;

// Without a type of `confirm`: the compiler would type the parameters of a function by this one, and not by the member.
/** The options of a tag, whatever its member is. */
type TagToolOptions = Omit<ToolOptions, "confirm"> & { readonly confirm?: unknown };

function readTagging(member: Taggable, options: ToolOptions): ToolOptions {
  assertMember(member, "mcpTool()");
  if (member[kExposure] !== "none") {
    throw new SurfaceError(
      "ALREADY_EXPOSED",
      `Tagging ${nameKind(member)} as a tool: it is tagged already, as a ${member[kExposure]}`,
    );
  }
  if (member.kind !== "procedure" && member.kind !== "event" && member.kind !== "stream") {
    throw new SurfaceError(
      "WRONG_KIND",
      `Tagging ${nameKind(member)} as a tool: only procedures, events and streams can be`,
    );
  }
  const read = readToolOptions(options, `Tagging ${nameKind(member)}`);
  assertEffect(member, read, `Tagging ${nameKind(member)} as a tool`);
  return read;
}

/** The effect after tagging, at run time; the twin of {@link EffectOf}. */
function effectOf(member: Taggable, options: ToolOptions): Effect {
  if (options.mutates !== undefined) return options.mutates ? "mutates" : "read";
  if (options.destructive === true) return "mutates";
  return member[kEffect] ?? "unstated";
}

/**
 * Tags a procedure, event or stream as a tool that an agent may call. Returns a tagged copy; the argument is not
 * changed. A procedure tool is advertised as mutating and destructive unless `readOnly()` or its options say otherwise.
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
  // The check below refuses a `confirm` of another type.
  const said = readTagging(member, options ?? {});
  const tagged = {
    ...member,
    [kExposure]: "tool",
    [kEffect]: effectOf(member, said),
    [kTagOptions]: { ...said, ...keepLooks(said), ...keepScopes(said), ...keepConfirm(said) },
  };
  // The compiler cannot follow a spread through a mapped type; the three symbols are all that differs.
  return Object.freeze(tagged) as unknown as Retagged<$Member, "tool", EffectOf<$Member, $Options>>;
}
