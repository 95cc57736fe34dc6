import type { StandardSchemaV1 } from "@standard-schema/spec";
import { SurfaceError } from "../errors.ts";
import { assertToolOptions } from "./check-options.ts";
import { kEffect, kExposure, kTagOptions, type Effect, type Exposure, type Taggable } from "./symbols.ts";
import type { SyntheticField } from "./synthetic-fields.ts";
import type { OnlyToolOptions, ToolOptions } from "./tool-options.ts";
import type { RefuseKeys, TypeProblem } from "./type-problem.ts";

/** A member of the same type, exposed as `TExposure` and with effect `TEffect`. */
export type Retagged<TMember, TExposure extends Exposure, TEffect extends Effect> = {
  readonly [Key in keyof TMember]: Key extends typeof kExposure
    ? TExposure
    : Key extends typeof kEffect
      ? TEffect
      : TMember[Key];
};

/** member, options -> the effect after tagging. A widened `mutates: boolean` counts as mutating: a superset. */
export type EffectOf<TMember, TOptions> = TOptions extends { readonly mutates: infer Said }
  ? [Said] extends [false]
    ? "read"
    : "mutates"
  : TMember extends { readonly [kEffect]: infer Known extends Effect }
    ? Known
    : "unstated";

/** The keys of a member's input, or `never` where it has none. */
type InputKeys<TMember> = TMember extends { readonly input: infer Input extends StandardSchemaV1 }
  ? keyof StandardSchemaV1.InferInput<Input>
  : never;

/** `unknown` when the member may be a tool by its kind and fields, else the sentence that says why not. */
export type ToolKindProblem<TMember extends Taggable> = TMember["kind"] extends "procedure"
  ? unknown
  : TMember["kind"] extends "event" | "stream"
    ? RefuseKeys<
        InputKeys<TMember> & SyntheticField<TMember["kind"]>,
        "the input field ",
        ` has the name of an argument that every ${TMember["kind"]} tool already takes: rename it`
      >
    : TypeProblem<`a ${TMember["kind"]} cannot be a tool: tag it with mcpResource()`>;

/** `unknown` when `mcpTool(member, options)` is legal, else the sentence that says why not. */
export type ToolProblem<TMember extends Taggable, TOptions> = [TMember[typeof kExposure]] extends ["none"]
  ? TMember extends { readonly [kEffect]: "read" }
    ? TOptions extends { readonly mutates: true }
      ? TypeProblem<"readOnly() says that this member does not mutate, its options say that it does">
      : ToolKindProblem<TMember>
    : ToolKindProblem<TMember>
  : TypeProblem<`this member is tagged already, as a ${TMember[typeof kExposure]}: one tag a member`>;

function assertTaggable(member: Taggable, options: ToolOptions): void {
  if (member[kExposure] !== "none") {
    throw new SurfaceError(
      "ALREADY_EXPOSED",
      `Tagging a ${member.kind} as a tool: it is tagged already, as a ${member[kExposure]}`,
    );
  }
  if (member.kind !== "procedure" && member.kind !== "event" && member.kind !== "stream") {
    throw new SurfaceError(
      "WRONG_KIND",
      `Tagging a ${member.kind} as a tool: only procedures, events and streams can be`,
    );
  }
  assertToolOptions(options, `a ${member.kind}`);
  if (member.kind !== "procedure" && options.mutates === true) {
    throw new SurfaceError(
      "CONTRADICTION",
      `Tagging a ${member.kind} as a tool that mutates: it only reads, by its kind`,
    );
  }
  if (member[kEffect] === "read" && options.mutates === true) {
    throw new SurfaceError(
      "CONTRADICTION",
      "Tagging a read-only procedure as a tool that mutates: say one or the other",
    );
  }
}

/** The effect after tagging, at run time; the twin of {@link EffectOf}. */
function effectOf(member: Taggable, options: ToolOptions): Effect {
  if (options.mutates !== undefined) return options.mutates ? "mutates" : "read";
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
export function mcpTool<const $Member extends Taggable, const $Options extends ToolOptions = Record<never, never>>(
  member: $Member & ToolProblem<$Member, $Options>,
  options?: $Options & OnlyToolOptions<$Options>,
): Retagged<$Member, "tool", EffectOf<$Member, $Options>> {
  const said: ToolOptions = options ?? {};
  assertTaggable(member, said);
  const tagged = { ...member, [kExposure]: "tool", [kEffect]: effectOf(member, said), [kTagOptions]: { ...said } };
  // The compiler cannot follow a spread through a mapped type; the three symbols are all that differs.
  return Object.freeze(tagged) as unknown as Retagged<$Member, "tool", EffectOf<$Member, $Options>>;
}
