import { isJsonObject } from "../schema/json.ts";
import type { MaybeSchema } from "../surface/member.ts";
import { toOutputSchema } from "../schema/compile-schema.ts";
import { anyCodec } from "../schema/wire-codec.ts";
import { assertNotResult } from "./assert-not-result.ts";
import type { ToolOutput } from "./entry.ts";
import { isRichContent } from "./rich-content.ts";

/** The answer of a tool whose author declared no output: any JSON; what is not an object travels under `value`. */
export const undeclaredOutput: ToolOutput = Object.freeze({
  json: undefined,
  stringify(value: unknown): string {
    if (value === undefined) return "{}";
    const json = anyCodec.encode(value);
    return JSON.stringify(isJsonObject(json) ? json : { value: json });
  },
});

/** The answer of a tool whose output is `richContent`: what it says to programs is under no schema. */
const richOutput: ToolOutput = Object.freeze({ ...undeclaredOutput, rich: "always" });

/** Returns {@link undeclaredOutput} of one tool, which refuses tool results in the shape of the protocol. */
function toCheckedOutput(where: string): ToolOutput {
  return Object.freeze({
    ...undeclaredOutput,
    stringify(value: unknown): string {
      assertNotResult(value, where);
      return undeclaredOutput.stringify(value);
    },
  });
}

/** Returns the output of a tool with this schema. @throws SurfaceError `SCHEMA_UNSUPPORTED` naming `where`. */
export function toToolOutput(schema: MaybeSchema, where: string): ToolOutput {
  if (isRichContent(schema)) return richOutput;
  const compiled = toOutputSchema(schema, where);
  if (compiled === undefined) return toCheckedOutput(where);
  const { json, codec } = compiled;
  return Object.freeze({ json, stringify: codec.stringify.bind(codec) });
}
