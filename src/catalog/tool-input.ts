import { deepFreeze, setOwn } from "../schema/json.ts";
import type { JsonObject } from "../schema/json.ts";
import { flattenRoot, refusedAtRoot } from "../schema/flatten-root.ts";
import { toInputSchema } from "../schema/compile-schema.ts";
import type { MaybeSchema } from "../surface/member.ts";
import type { ToolInput } from "./entry.ts";

/** How a tool with this input schema takes its arguments. @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`. */
export function toToolInput(schema: MaybeSchema, where: string): ToolInput {
  const compiled = toInputSchema(schema, where);
  const isFlat = refusedAtRoot(compiled.json).length === 0;
  const exact = isFlat ? compiled.json : compiled.exact();
  return Object.freeze({
    json: isFlat ? exact : deepFreeze(flattenRoot(exact)),
    refusedKeywords: refusedAtRoot(exact),
    decode: compiled.codec.decode.bind(compiled.codec),
    root: compiled.wrapped ? "value" : "",
  });
}

/** Splits arguments into the member's own input and the fields that every tool of its kind takes. */
export function splitFields(args: JsonObject, names: readonly string[]): readonly [own: JsonObject, extra: JsonObject] {
  const own: JsonObject = {};
  const extra: JsonObject = {};
  for (const [name, value] of Object.entries(args)) setOwn(names.includes(name) ? extra : own, name, value);
  return [own, extra];
}
