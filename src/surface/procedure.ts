import { assertKnownOptions } from "../options/known-names.ts";
import { kEffect, kExposure } from "../tags/tag-of.ts";
import { allowSchema, describe } from "./describe-member.ts";
import type { MaybeSchema, MemberMeta, Procedure, Settled } from "./member.ts";

/** What {@link procedure} takes. */
export interface ProcedureDefinition<
  TInput extends MaybeSchema,
  TOutput extends MaybeSchema,
  TProgress extends MaybeSchema,
> extends MemberMeta {
  /** The schema of the argument. Default: it takes none. */
  readonly input?: TInput;
  /** The schema of the answer. Default: whatever JSON the handler returns, unchecked. */
  readonly output?: TOutput;
  /** The schema of what a generator handler yields on its way. */
  readonly progress?: TProgress;
  /**
   * Codes that the handler may refuse with, each with the schema of its details or `undefined`. Details with a schema are
   * validated before they leave: those that do not fit are withheld and reported, code and message cross. A refusal with
   * a code that is not declared here, or declared without a schema, crosses as it is.
   */
  readonly errors?: Readonly<Record<string, MaybeSchema>>;
}

const optionNames = Object.keys({
  input: true,
  output: true,
  progress: true,
  errors: true,
  title: true,
  description: true,
} satisfies Record<keyof ProcedureDefinition<MaybeSchema, MaybeSchema, MaybeSchema>, true>);

/**
 * Defines a procedure: a verb. Untagged, no agent can reach it.
 *
 * @throws SurfaceError `INVALID_MEMBER` when a part that should be a Standard Schema is not.
 * @example
 * ```ts
 * const rerun = procedure({ input: z.object({ node: z.string() }), errors: { UNKNOWN_NODE: undefined } });
 * ```
 */
export function procedure<
  $Input extends MaybeSchema = undefined,
  $Output extends MaybeSchema = undefined,
  $Progress extends MaybeSchema = undefined,
>(
  definition: ProcedureDefinition<$Input, $Output, $Progress>,
): Procedure<Settled<$Input>, Settled<$Output>, Settled<$Progress>, "none", "unstated"> {
  assertKnownOptions(definition, optionNames, "Defining a procedure");
  const errors = definition.errors ?? {};
  allowSchema(definition.input, "a procedure", "input");
  allowSchema(definition.output, "a procedure", "output");
  allowSchema(definition.progress, "a procedure", "progress");
  for (const [code, details] of Object.entries(errors)) allowSchema(details, "a procedure", `errors.${code}`);
  return Object.freeze({
    kind: "procedure",
    ...describe(definition),
    // Left out means undefined, which is what the three defaulted parameters say.
    input: definition.input as Settled<$Input>,
    // As above.
    output: definition.output as Settled<$Output>,
    // As above.
    progress: definition.progress as Settled<$Progress>,
    errors,
    [kExposure]: "none",
    [kEffect]: "unstated",
  } as const);
}
