import { isJsonObject, type JsonValue } from "../schema/json.ts";
import type { Completer, ResourceEntry, TemplateEntry, TemplateVariable } from "./entry.ts";
import { textOf } from "./resource-content.ts";
import { toSegment } from "./to-listed-items.ts";

/** What of a key stands in one variable, as text; nothing where no URI can spell it. */
function toProposal(key: JsonValue, variable: TemplateVariable): readonly string[] {
  const segment = toSegment(isJsonObject(key) ? key[variable.name] : key, variable);
  return segment === undefined ? [] : [decodeURIComponent(segment)];
}

/** Proposes the keys that there are now, or of keys that are objects what stands in one variable. */
function toKeyCompleter(list: ResourceEntry, variable: TemplateVariable): Completer {
  return async (_begun, call) => {
    const content = await list.read(call);
    const text = content === undefined ? undefined : textOf(content);
    const keys: unknown = text === undefined ? [] : JSON.parse(text);
    return Array.isArray(keys) ? keys.flatMap((key: JsonValue) => toProposal(key, variable)) : [];
  };
}

/** The template of a collection's items, whose variables are proposed by what the list of its keys says. */
export function withKeyCompleters(template: TemplateEntry, list: ResourceEntry): TemplateEntry {
  const variables = template.variables.map((variable) =>
    Object.freeze({ ...variable, complete: toKeyCompleter(list, variable) }),
  );
  return { ...template, variables: Object.freeze(variables) };
}
