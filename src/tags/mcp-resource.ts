import type { StandardSchemaV1 } from "@standard-schema/spec";
import { SurfaceError } from "../errors.ts";
import { readResourceOptions } from "./read-tag-options.ts";
import { assertUntagged, type Retagged, type TaggedProblem } from "./retag.ts";
import { kExposure, kTagOptions, type Taggable } from "./tag-of.ts";
import type { CollectionResourceOptions, ResourceOptions } from "./tool-options.ts";
import type { TypeProblem } from "./type-problem.ts";

/** The type of one variable of a resource template. */
export type Scalar = string | number | boolean;

// Arms: scalars first, then objects (a URI can carry only declared fields), then other values: null, bigint, unknown. `any` takes
// every arm, and so is unfit.
/** The parts of `TValue` that a URI cannot carry; `never` for a scalar or a flat object of scalars. */
export type UnfitForUri<TValue> = TValue extends Scalar | undefined
  ? never
  : TValue extends object
    ? string extends keyof TValue
      ? UndeclaredFields<TValue[keyof TValue]>
      : { [Key in keyof TValue]-?: TValue[Key] extends Scalar | undefined ? never : Key }[keyof TValue]
    : "value";

/** The values of an object without declared fields -> unfit, unless it can have no values (`z.object({})`). */
type UndeclaredFields<TValues> = [TValues] extends [never] ? never : "fields";

/** `unknown` when a member's input can be the variables of a resource template, else the sentence that says why not. */
export type TemplateProblem<TMember> = TMember extends {
  readonly kind: "stream" | "event";
  readonly input: infer Input extends StandardSchemaV1;
}
  ? [UnfitForUri<StandardSchemaV1.InferInput<Input>>] extends [never]
    ? unknown
    : TypeProblem<"the input of a resource must be a scalar or a flat object of scalars: it is spelled in a URI">
  : unknown;

/** `unknown` when the member may be a resource by its kind and input, else the sentence that says why not. */
export type ResourceKindProblem<TMember extends Taggable> = TMember["kind"] extends
  | "cell"
  | "collection"
  | "stream"
  | "event"
  ? TemplateProblem<TMember>
  : TypeProblem<"a procedure cannot be a resource: tag it with mcpTool()">;

/** `unknown` when `mcpResource(member)` is legal, else the sentence that says why not. */
export type ResourceProblem<TMember extends Taggable> = [TMember[typeof kExposure]] extends ["none"]
  ? ResourceKindProblem<TMember>
  : TaggedProblem<TMember[typeof kExposure]>;

/** The options of a resource for a member of one kind; an option of another kind carries the sentence that says why not. */
export type ResourceOptionsOf<TMember extends { readonly kind: string }> = [TMember["kind"]] extends ["collection"]
  ? CollectionOptionsOf<TMember>
  : ResourceOptions & {
      readonly list?: TypeProblem<"only a collection has a list: leave list out">;
      readonly listDescription?: TypeProblem<"only a collection has a list: leave listDescription out">;
      readonly listItems?: TypeProblem<"only a collection has items that could be listed: leave listItems out">;
    };

// For zod from `_zod`: comparing a zod object with all of `StandardSchemaV1` costs the compiler more than the member.
/** The output type of a schema. */
type OutputOf<TSchema> = TSchema extends { readonly _zod: { readonly output: infer Output } }
  ? Output
  : TSchema extends StandardSchemaV1
    ? StandardSchemaV1.InferOutput<TSchema>
    : unknown;

/** The options of a collection. A function that writes summaries receives its keys and items. */
type CollectionOptionsOf<TMember> = [TMember] extends [{ readonly key: infer Key; readonly schema: infer Item }]
  ? CollectionResourceOptions<OutputOf<Key>, OutputOf<Item>>
  : CollectionResourceOptions;

/**
 * Tags a cell, collection, stream or event as a resource that an agent may read. Returns a tagged copy; the argument is not
 * changed. For a collection, `list` sets the content of its list.
 *
 * @throws SurfaceError `ALREADY_EXPOSED` or `WRONG_KIND`, for callers who cast: each is a compile error too; `INVALID_OPTION`.
 * @example
 * ```ts
 * const nodes = mcpResource(cell({ schema: z.array(z.string()), description: "Every node" }));
 * ```
 */
export function mcpResource<const $Member extends Taggable>(
  member: $Member & ResourceProblem<$Member>,
  options?: ResourceOptionsOf<$Member>,
): Retagged<$Member, "resource", "read"> {
  const doing = assertUntagged(member, "resource");
  if (!["cell", "collection", "stream", "event"].includes(member.kind)) {
    throw new SurfaceError("WRONG_KIND", `${doing}: a procedure can only be a tool`);
  }
  const given: ResourceOptions = options ?? {};
  const tagOptions = readResourceOptions(member.kind, given, doing);
  const tagged = { ...member, [kExposure]: "resource", [kTagOptions]: tagOptions };
  // The compiler cannot follow a spread through a mapped type; only the two symbols differ.
  return Object.freeze(tagged) as unknown as Retagged<$Member, "resource", "read">;
}
