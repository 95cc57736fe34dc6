import type { ResourceKindProblem } from "../tags/mcp-resource.ts";
import type { ToolKindProblem } from "../tags/mcp-tool.ts";
import type { kEffect, kExposure, Taggable } from "../tags/symbols.ts";
import type { ToolOptions } from "../tags/tool-options.ts";
import type { TypeProblem } from "../tags/type-problem.ts";

/** How one member is exposed by an expose map. */
export type ExposeValue = "resource" | "tool" | { readonly tool: ToolOptions };

/** The exposures that are legal for a member by its kind. */
type ExposureFor<TMember> = TMember extends { readonly kind: "procedure" }
  ? "tool" | { readonly tool: ToolOptions }
  : TMember extends { readonly kind: "cell" | "collection" }
    ? "resource"
    : ExposeValue;

/** The expose map of a surface: its untagged members, each by its kind. What is left out is not exposed. */
export type Expose<TSpec> = {
  readonly [Key in keyof TSpec as TSpec[Key] extends { readonly [kExposure]: "none" } ? Key : never]?: ExposureFor<
    TSpec[Key]
  >;
};

/** Objects to option keys that do not exist: an excess key deep inside a literal is otherwise let through. */
type OptionsProblem<TValue, TMember> = TValue extends { readonly tool: infer Options }
  ? Exclude<keyof TValue, "tool"> extends never
    ? Exclude<keyof Options, keyof ToolOptions> extends never
      ? TMember extends { readonly [kEffect]: "read" }
        ? Options extends { readonly mutates: true }
          ? TypeProblem<"readOnly() says that this member does not mutate, its options say that it does">
          : unknown
        : unknown
      : TypeProblem<`"${Exclude<keyof Options, keyof ToolOptions> & string}" is not a tool option`>
    : TypeProblem<`"${Exclude<keyof TValue, "tool"> & string}" does not belong beside "tool"`>
  : unknown;

/** `unknown` when the member may be exposed this way, else the sentence that says why not. */
type ExposureProblem<TMember, TValue> = TMember extends Taggable
  ? TMember[typeof kExposure] extends "none"
    ? TValue extends "resource"
      ? ResourceKindProblem<TMember>
      : TValue extends "tool" | { readonly tool: unknown }
        ? ToolKindProblem<TMember> & OptionsProblem<TValue, TMember>
        : TypeProblem<'expose a member as "resource", "tool" or { tool: { … } }'>
    : TypeProblem<"this member is tagged already: expose it in one place">
  : TypeProblem<"this is not a member of the surface">;

// The parameter of expose(): the map itself, with an objection on every key that is wrong. Mapped over the map's own
// keys, so that excess keys are caught also when it arrives in a variable.
/** expose map -> the same map, or objections by key. */
export type ExposeChecked<TSpec, TExpose> = {
  readonly [Key in keyof TExpose]: Key extends keyof TSpec
    ? TExpose[Key] & ExposureProblem<TSpec[Key], TExpose[Key]>
    : TypeProblem<`"${Key & string}" is not a member of this surface`>;
};

/** The keys of an expose map that make tools. A widened value counts: the proof is a superset. */
export type ExposedToolKeys<TExpose> = {
  [Key in keyof TExpose]: TExpose[Key] extends "resource" ? never : Key;
}[keyof TExpose] &
  string;

/** The keys of an expose map that make resources. A widened value counts: the proof is a superset. */
export type ExposedResourceKeys<TExpose> = {
  [Key in keyof TExpose]: "resource" extends TExpose[Key] ? Key : never;
}[keyof TExpose] &
  string;

/** The keys of an expose map that make tools which may change something. */
export type ExposedMutatingKeys<TSpec, TExpose> = {
  [Key in keyof TExpose & keyof TSpec]: TExpose[Key] extends "resource"
    ? never
    : TSpec[Key] extends { readonly kind: "procedure" }
      ? TExpose[Key] extends { readonly tool: { readonly mutates: false } }
        ? never
        : TSpec[Key] extends { readonly [kEffect]: "read" }
          ? never
          : Key
      : never;
}[keyof TExpose & keyof TSpec] &
  string;
