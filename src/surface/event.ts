import { assertKnownOptions } from "../options/known-names.ts";
import type { Schema } from "../schema/standard.ts";
import { kExposure } from "../tags/tag-of.ts";
import { allowSchema, describe, requireSchema } from "./describe-member.ts";
import type { Event, MaybeSchema, MemberMeta, Settled } from "./member.ts";

/** What {@link event} takes. */
export interface EventDefinition<TInput extends MaybeSchema, TOutput extends Schema> extends MemberMeta {
  /** The schema of what a listener must say first. Default: nothing. */
  readonly input?: TInput;
  /** The schema of one occurrence. */
  readonly output: TOutput;
  /**
   * Lets a first wait without a cursor start at the newest occurrence, instead of at what happens next. Default
   * `false`.
   */
  readonly replayLast?: boolean;
}

const optionNames = Object.keys({
  input: true,
  output: true,
  replayLast: true,
  title: true,
  description: true,
} satisfies Record<keyof EventDefinition<MaybeSchema, Schema>, true>);

/**
 * Defines an event: things that happen, each of them once. The live surface keeps the last occurrences, so that one
 * between two waits is not lost.
 *
 * @throws SurfaceError `INVALID_MEMBER` when `input` or `output` is not a Standard Schema.
 * @example
 * ```ts
 * const settled = event({ output: z.object({ ok: z.boolean() }), replayLast: true });
 * ```
 */
export function event<$Output extends Schema, $Input extends MaybeSchema = undefined>(
  definition: EventDefinition<$Input, $Output>,
): Event<Settled<$Input>, $Output> {
  assertKnownOptions(definition, optionNames, "Defining an event");
  allowSchema(definition.input, "an event", "input");
  requireSchema(definition.output, "an event", "output");
  return Object.freeze({
    kind: "event",
    ...describe(definition),
    // Left out means undefined, which is what the defaulted parameter says.
    input: definition.input as Settled<$Input>,
    output: definition.output,
    replayLast: definition.replayLast ?? false,
    [kExposure]: "none",
  } as const);
}
