/** One side of a schema as JSON Schema, before it is normalised, and what else its library lets us know. */
export interface RawSchema {
  /** The document: may hold references, and wire markers under `wireKey`. */
  readonly document: unknown;
  /** True when the value itself may be undefined. */
  readonly optional: boolean;
  /** True when a validated value is made new from the declared parts only, with finite numbers: zod does that. */
  readonly rebuilds: boolean;
}
