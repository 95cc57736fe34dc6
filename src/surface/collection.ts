import { assertKnownOptions } from "../options/known-names.ts";
import type { InferOutput, Schema } from "../schema/standard.ts";
import type { Scalar, UnfitForUri } from "../tags/mcp-resource.ts";
import { kExposure } from "../tags/tag-of.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import { describe, requireSchema } from "./describe-member.ts";
import type { Collection, Filtered, MaybeSchema, MemberMeta } from "./member.ts";

/** What a collection's keys may be: a scalar, or a flat object of scalars in declared order, optionals last. */
export type CollectionKey = Scalar | { readonly [field: string]: Scalar | undefined };

/** `unknown` when a key can be spelled in a URI, else the sentence that says why not. */
export type KeyProblem<TKey extends Schema> = [Schema] extends [TKey]
  ? // Inferred where the definition has no key.
    TypeProblem<"a collection needs a key: the schema of its keys, such as z.string()">
  : [UnfitForUri<InferOutput<TKey>>] extends [never]
    ? unknown
    : TypeProblem<"the key of a collection must be a scalar or a flat object of declared scalars: it is spelled in a URI">;

/** What {@link collection} takes. */
export interface CollectionDefinition<
  TKey extends Schema,
  TValue extends Schema,
  TFilter extends MaybeSchema = undefined,
> extends MemberMeta {
  /**
   * The schema of a key: a scalar or a flat object of scalars, since a key is spelled in a URI. The schema should refuse
   * texts that no URI can spell as one segment: the empty one, `.`, `..` and those with control characters. Such a key is
   * listed and can be read by a client, and no agent can read its item.
   */
  readonly key: TKey;
  /** The schema of one item. */
  readonly schema: TValue;
  /**
   * The schema of a filter for pages of the collection: a flat object of scalars, all optional. The source receives it in `list`.
   */
  readonly filter?: TFilter;
}

const optionNames = Object.keys({
  key: true,
  schema: true,
  filter: true,
  title: true,
  description: true,
} satisfies Record<keyof CollectionDefinition<Schema, Schema>, true>);

/**
 * Defines a collection: values by key.
 *
 * @throws SurfaceError `INVALID_MEMBER` when `key`, `schema` or `filter` is not a Standard Schema.
 * @example
 * ```ts
 * const notes = collection({ key: z.string(), schema: z.object({ text: z.string() }) });
 * ```
 */
export function collection<$Key extends Schema, $Value extends Schema, $Filter extends MaybeSchema = undefined>(
  definition: CollectionDefinition<$Key, $Value, $Filter> & { readonly key: KeyProblem<$Key> },
): Collection<$Key, $Value> & Filtered<$Filter> {
  assertKnownOptions(definition, optionNames, "Defining a collection");
  requireSchema(definition.key, "a collection", "key");
  requireSchema(definition.schema, "a collection", "schema");
  const { key, schema, filter } = definition;
  if (filter !== undefined) requireSchema(filter, "a collection", "filter");
  const made = Object.freeze({
    kind: "collection",
    ...describe(definition),
    key,
    schema,
    ...(filter === undefined ? {} : { filter }),
    [kExposure]: "none",
  } as const);
  // The filter is there where the definition has one.
  return made as unknown as Collection<$Key, $Value> & Filtered<$Filter>;
}
