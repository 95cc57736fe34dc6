import { compileSchema } from "./compile-schema.ts";
import type { CompiledSchema } from "./compiled-schema.ts";
import type { Schema } from "./standard.ts";

/** The output side of a schema: what an agent gets back. `codec.encode` wraps what is not an object under `value`. */
export type OutputSchema = CompiledSchema;

/**
 * Converts a member's output schema for agents; undefined stays undefined (use `anyCodec` for such a member's values).
 * Pure, and cached by schema: converting twice is free.
 *
 * @param where - the member's name, for the error.
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`, when no JSON Schema can be had from the schema.
 */
export function toOutputSchema(schema: Schema | undefined, where: string): OutputSchema | undefined {
  return schema === undefined ? undefined : compileSchema(schema, "output", where);
}
