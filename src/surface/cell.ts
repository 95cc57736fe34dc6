import { assertKnownOptions } from "../options/known-names.ts";
import type { InferInput, Schema } from "../schema/standard.ts";
import { kExposure } from "../tags/tag-of.ts";
import { describe, requireSchema } from "./describe-member.ts";
import type { Cell, MemberMeta } from "./member.ts";

/** What {@link cell} takes. */
export interface CellDefinition<TValue extends Schema> extends MemberMeta {
  /** The value's schema; handlers produce its input side, clients receive its output side. */
  readonly schema: TValue;
  /** Seeds `cellSource` in the process that owns the state. Never served by a face or a projection. */
  readonly default?: InferInput<TValue>;
}

const optionNames = Object.keys({ schema: true, default: true, title: true, description: true } satisfies Record<
  keyof CellDefinition<Schema>,
  true
>);

/**
 * Defines a cell: one value that changes.
 *
 * @throws SurfaceError `INVALID_MEMBER` when `schema` is not a Standard Schema.
 * @example
 * ```ts
 * const status = cell({ schema: z.enum(["idle", "busy"]), default: "idle" });
 * ```
 */
export function cell<$Value extends Schema>(definition: CellDefinition<$Value>): Cell<$Value> {
  assertKnownOptions(definition, optionNames, "Defining a cell");
  requireSchema(definition.schema, "a cell", "schema");
  return Object.freeze({
    kind: "cell",
    ...describe(definition),
    schema: definition.schema,
    default: definition.default,
    [kExposure]: "none",
  } as const);
}
