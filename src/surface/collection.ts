import { assertKnownOptions } from "../tags/assert-known-options.ts";
import type { InferOutput, Schema } from "../schema/standard.ts";
import type { Scalar, UnfitForUri } from "../tags/mcp-resource.ts";
import { kExposure } from "../tags/symbols.ts";
import type { TypeProblem } from "../tags/type-problem.ts";
import { describe, requireSchema } from "./describe-member.ts";
import type { Collection, MemberMeta } from "./member.ts";

/** What a collection's keys may be: a scalar, or a flat object of scalars in declared order, optionals last. */
export type CollectionKey = Scalar | { readonly [field: string]: Scalar | undefined };

/** `unknown` when a key can be spelled in a URI, else the sentence that says why not. */
export type KeyProblem<TKey extends Schema> = [UnfitForUri<InferOutput<TKey>>] extends [never]
  ? unknown
  : TypeProblem<"the key of a collection must be a scalar or a flat object of declared scalars: it is spelled in a URI">;

/** What {@link collection} takes. */
export interface CollectionDefinition<TKey extends Schema, TValue extends Schema> extends MemberMeta {
  /**
   * The schema of a key: a scalar or a flat object of scalars, since a key is spelled in a URI. The schema should refuse
   * texts that no URI can spell as one segment: the empty one, `.`, `..` and those with control characters. Such a key is
   * listed and can be read by a client, and no agent can read its item.
   */
  readonly key: TKey;
  /** The schema of one item. */
  readonly schema: TValue;
}

const optionNames = Object.keys({ key: true, schema: true, title: true, description: true } satisfies Record<
  keyof CollectionDefinition<Schema, Schema>,
  true
>);

/**
 * Defines a collection: values by key.
 *
 * @throws SurfaceError `INVALID_MEMBER` when `key` or `schema` is not a Standard Schema.
 * @example
 * ```ts
 * const notes = collection({ key: z.string(), schema: z.object({ text: z.string() }) });
 * ```
 */
export function collection<$Key extends Schema, $Value extends Schema>(
  definition: CollectionDefinition<$Key, $Value> & { readonly key: KeyProblem<$Key> },
): Collection<$Key, $Value> {
  assertKnownOptions(definition, optionNames, "Defining a collection");
  requireSchema(definition.key, "a collection", "key");
  requireSchema(definition.schema, "a collection", "schema");
  return Object.freeze({
    kind: "collection",
    ...describe(definition),
    key: definition.key,
    schema: definition.schema,
    [kExposure]: "none",
  } as const);
}
