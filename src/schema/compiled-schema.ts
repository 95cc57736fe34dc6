import type { JsonSchema } from "./json.ts";
import type { WireCodec } from "./wire-codec.ts";

/** Which side of a schema: what a producer may hand in, or what comes out of it. */
export type SchemaSide = "input" | "output";

/** What agents see of a schema, and how its values travel. Immutable; one per schema and side. */
export interface CompiledSchema {
  /** Deep-frozen JSON Schema 2020-12, self-contained, root always `type: "object"`, without `$schema`. */
  readonly json: JsonSchema;
  /** Returns {@link CompiledSchema.json} with `oneOf` kept apart from `anyOf` at the root. Built at each call. */
  readonly exact: () => JsonSchema;
  /** True when the value is not an object and travels under the key `value`. The codec does the wrapping. */
  readonly wrapped: boolean;
  /** True when the value may be undefined. Nothing travels for it then, or null where something has to. */
  readonly optional: boolean;
  /** Encodes to, and decodes from, what {@link CompiledSchema.json} describes. */
  readonly codec: WireCodec;
  /** What a reader holds the value by itself, without a wrapper, against: see `toReaderSchema`. Made on first use. */
  readonly reader: () => JsonSchema;
}
