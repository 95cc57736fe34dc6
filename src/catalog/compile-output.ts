import { SurfaceError } from "../errors.ts";
import { toOutputSchema } from "../schema/compile-schema.ts";
import type { CompiledSchema } from "../schema/compile-schema.ts";
import type { Schema } from "../schema/standard.ts";

/** The output side of a schema that is always there. @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`. */
export function compileOutput(schema: Schema, where: string): CompiledSchema {
  const compiled = toOutputSchema(schema, where);
  if (compiled === undefined)
    throw new SurfaceError("SCHEMA_UNSUPPORTED", `Converting ${where}: it has no output schema`);
  return compiled;
}
