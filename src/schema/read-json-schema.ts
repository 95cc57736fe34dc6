import { SurfaceError } from "../errors.ts";
import type { SchemaSide } from "./compiled-schema.ts";
import type { RawSchema } from "./raw-schema.ts";
import { readStandard } from "./read-standard.ts";
import { readZod } from "./read-zod.ts";
import { isZodSchema } from "./zod-schema.ts";
import { isZod3, standardOf, zod3Advice, type Schema } from "./standard.ts";

/**
 * Gets JSON Schema out of a schema: from zod by its converter (zod/mini has no other way, and zod's own Standard JSON
 * Schema is the same converter with less to say), else from Standard JSON Schema, which is also where
 * `withJsonSchema` puts an explicit one.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` when there is none, or when the library fails, its error as `cause`.
 */
export function readJsonSchema(schema: Schema, side: SchemaSide): RawSchema {
  const raw = isZodSchema(schema) ? readZod(schema, side) : readStandard(schema, side);
  if (raw !== undefined) return raw;
  if (isZod3(schema)) throw new SurfaceError("SCHEMA_UNSUPPORTED", zod3Advice);
  throw new SurfaceError(
    "SCHEMA_UNSUPPORTED",
    `schema library "${standardOf(schema).vendor}" gives no JSON Schema: ` +
      "need Standard JSON Schema (~standard.jsonSchema), zod 4, or withJsonSchema(validator, json)",
  );
}
