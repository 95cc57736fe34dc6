import { isJsonObject } from "../schema/json.ts";
import type { MaybeSchema } from "../surface/member.ts";
import { toOutputSchema } from "../schema/to-output-schema.ts";
import { anyCodec } from "../schema/wire-codec.ts";
import type { ToolOutput } from "./entry.ts";

/** The answer of a tool whose author declared no output: any JSON; what is not an object travels under `value`. */
export const undeclaredOutput: ToolOutput = Object.freeze({
  json: undefined,
  stringify(value: unknown): string {
    if (value === undefined) return "{}";
    const json = anyCodec.encode(value);
    return JSON.stringify(isJsonObject(json) ? json : { value: json });
  },
});

/** How a tool with this output schema answers. @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`. */
export function toToolOutput(schema: MaybeSchema, where: string): ToolOutput {
  const compiled = toOutputSchema(schema, where);
  if (compiled === undefined) return undeclaredOutput;
  return Object.freeze({ json: compiled.json, stringify: (value: unknown) => compiled.codec.stringify(value) });
}
