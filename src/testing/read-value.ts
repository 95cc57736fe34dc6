import type { AppDefinition } from "../builder/app-definition.ts";
import { compileOutput } from "../catalog/tool-schemas.ts";
import { isRichContent } from "../catalog/content/rich-content.ts";
import { toWireName } from "../catalog/wire-name.ts";
import type { JsonObject } from "../schema/json.ts";
import type { Schema } from "../schema/standard.ts";

/** Reads a value out of the structured content of an answer. */
export type ReadValue = (structured: JsonObject) => unknown;

const asItIs: ReadValue = (structured) => structured;

function toReader(kind: string, schema: Schema | undefined, origin: string): ReadValue {
  if (schema === undefined || isRichContent(schema)) return asItIs;
  const compiled = compileOutput(schema, origin);
  const { codec } = compiled.bare;
  if (kind === "event") {
    return ({ occurrence, ...rest }) =>
      occurrence === undefined ? rest : { ...rest, occurrence: codec.decode(occurrence) };
  }
  if (kind === "stream") {
    return ({ items, ...rest }) => ({
      items: Array.isArray(items) ? items.map((item) => codec.decode(item)) : [],
      ...rest,
    });
  }
  return (structured) => compiled.codec.decode(structured);
}

/** Creates the reader of an app's answers: by the name of a tool, its answer as the output schema has it. */
export function createValueReader({ tools, exposures }: AppDefinition): (tool: string) => ReadValue {
  const readers = new Map<string, () => ReadValue>();
  for (const { key, member, as } of exposures) {
    if (as !== "tool" || !("output" in member)) continue;
    readers.set(toWireName(key, { origin: key, allowDash: false }), () => toReader(member.kind, member.output, key));
  }
  for (const [key, { output, allowDash = false }] of tools) {
    readers.set(toWireName(key, { origin: key, allowDash }), () => toReader("tool", output, key));
  }
  return (tool) => readers.get(tool)?.() ?? asItIs;
}
