import { compileSchema, noFields } from "./compile-schema.ts";
import type { CompiledSchema } from "./compiled-schema.ts";
import type { Schema } from "./standard.ts";

/** The input side of a schema: what an agent sends as arguments. `codec.decode` unwraps `value`. */
export type InputSchema = CompiledSchema;

/**
 * Converts a member's input schema for agents. Pure, and cached by schema: converting twice is free.
 *
 * @param where - the member's name, for the error.
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`, when no JSON Schema can be had from the schema.
 */
export function toInputSchema(schema: Schema | undefined, where: string): InputSchema {
  return schema === undefined ? noInput : compileSchema(schema, "input", where);
}

/** Decoding ignores what a host adds: without a schema there is nothing to hand on. */
const noInput: InputSchema = Object.freeze({
  json: noFields,
  exact: () => noFields,
  wrapped: false,
  optional: true,
  codec: Object.freeze({ encode: () => ({}), decode: () => undefined, prune: () => ({}), stringify: () => "{}" }),
  reader: () => noFields,
});
