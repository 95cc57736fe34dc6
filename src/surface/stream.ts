import { assertKnownOptions } from "../options/known-names.ts";
import type { Schema } from "../schema/standard.ts";
import { kExposure } from "../tags/tag-of.ts";
import { allowSchema, describe, requireSchema } from "./describe-member.ts";
import type { MaybeSchema, MemberMeta, Settled, Stream } from "./member.ts";

/** What {@link stream} takes. */
export interface StreamDefinition<TInput extends MaybeSchema, TOutput extends Schema> extends MemberMeta {
  /** The schema of what a listener must say first. Default: nothing. */
  readonly input?: TInput;
  /** The schema of one frame. */
  readonly output: TOutput;
}

const optionNames = Object.keys({ input: true, output: true, title: true, description: true } satisfies Record<
  keyof StreamDefinition<MaybeSchema, Schema>,
  true
>);

/**
 * Defines a stream: frames derived from an input, for as long as somebody listens.
 *
 * @throws SurfaceError `INVALID_MEMBER` when `input` or `output` is not a Standard Schema.
 * @example
 * ```ts
 * const log = stream({ input: z.object({ node: z.string() }), output: z.string() });
 * ```
 */
export function stream<$Output extends Schema, $Input extends MaybeSchema = undefined>(
  definition: StreamDefinition<$Input, $Output>,
): Stream<Settled<$Input>, $Output> {
  assertKnownOptions(definition, optionNames, "Defining a stream");
  allowSchema(definition.input, "a stream", "input");
  requireSchema(definition.output, "a stream", "output");
  return Object.freeze({
    kind: "stream",
    ...describe(definition),
    // Left out means undefined, which is what the defaulted parameter says.
    input: definition.input as Settled<$Input>,
    output: definition.output,
    [kExposure]: "none",
  } as const);
}
