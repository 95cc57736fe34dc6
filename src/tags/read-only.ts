import { SurfaceError } from "../errors.ts";
import { assertMember, nameKind, type Retagged } from "./retag.ts";
import { kEffect, kTagOptions, type Effect, type kExposure, type Taggable } from "./tag-of.ts";
import type { ToolOptions } from "./tool-options.ts";
import type { TypeProblem } from "./type-problem.ts";

/** `true` for the effect `"read"` alone, not for `any` and `never`. */
type IsRead<TEffect> = [TEffect, "read"] extends ["read", TEffect] ? ("mutates" extends TEffect ? false : true) : false;

/**
 * `true` when a member provably changes nothing as a tool: all kinds except procedures, and procedures that only read. For a
 * union it is a union, so compare with `[ProvablyReads<…>] extends [true]`.
 */
export type ProvablyReads<TMember> = [TMember] extends [never]
  ? false
  : TMember extends { readonly kind: "cell" | "collection" | "stream" | "event" }
    ? true
    : TMember extends { readonly [kEffect]: infer Known }
      ? IsRead<Known>
      : false;

/** `unknown` when `readOnly(member)` is legal, else the sentence that says why not. */
type ReadOnlyProblem<TMember extends Taggable> = TMember["kind"] extends "procedure"
  ? TMember extends { readonly [kEffect]: "mutates" }
    ? TypeProblem<"this tool's options say that it mutates: it cannot be read-only">
    : unknown
  : TypeProblem<`${TMember["kind"]}s only read, by their kind: readOnly() is for procedures`>;

interface Tagged {
  readonly [kEffect]?: Effect;
  readonly [kTagOptions]?: ToolOptions;
}

function assertReadable(member: Taggable & Tagged): void {
  assertMember(member, "readOnly()");
  if (member.kind !== "procedure") {
    throw new SurfaceError(
      "WRONG_KIND",
      `Cannot mark ${nameKind(member)} as read-only: only procedures can change anything`,
    );
  }
  const doing = "Cannot mark a procedure as read-only";
  if (member[kEffect] === "mutates") {
    throw new SurfaceError("CONTRADICTION", `${doing}: its options say that it mutates`);
  }
  if (member[kTagOptions]?.destructive === true) {
    throw new SurfaceError("CONTRADICTION", `${doing}: its options say that it is destructive`);
  }
}

/**
 * Marks a procedure as read-only, so that hosts may call it without asking. Does not expose it: an untagged procedure stays
 * unreachable. Returns a copy; the argument is not changed.
 *
 * @throws SurfaceError `WRONG_KIND` or `CONTRADICTION`, for callers who cast: each is a compile error too.
 * @example
 * ```ts
 * const show = readOnly(mcpTool(procedure({ input: z.object({ node: z.string() }), output: z.string() })));
 * ```
 */
export function readOnly<const $Member extends Taggable>(
  member: $Member & ReadOnlyProblem<$Member>,
): Retagged<$Member, $Member[typeof kExposure], "read"> {
  assertReadable(member);
  // The compiler cannot follow a spread through a mapped type; only the effect differs.
  return Object.freeze({ ...member, [kEffect]: "read" }) as unknown as Retagged<
    $Member,
    $Member[typeof kExposure],
    "read"
  >;
}
