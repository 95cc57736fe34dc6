import { SurfaceError } from "../errors.ts";
import { isJsonObject, type JsonValue } from "../schema/json.ts";
import type { Completer, EntryCall, ResourceContent, ResourceEntry, TemplateEntry, TemplateVariable } from "./entry.ts";
import { inTime } from "./in-time.ts";
import { textOf } from "./resource-content.ts";
import { toSegment } from "./to-listed-items.ts";

/** How long the keys may take, in milliseconds: less than a completer may, so that waiting for a backend is no fault. */
const patienceMs = 4000;

/** What of a key stands in one variable, as text; nothing where no URI can spell it. */
function toProposal(key: JsonValue, variable: TemplateVariable): readonly string[] {
  const segment = toSegment(isJsonObject(key) ? key[variable.name] : key, variable);
  return segment === undefined ? [] : [decodeURIComponent(segment)];
}

/** What the list says now; nothing where its backend is away for longer than somebody who writes waits. */
async function readList(list: ResourceEntry, { signal }: EntryCall): Promise<ResourceContent | undefined> {
  const doing = `Proposing keys of ${list.origin}`;
  try {
    return await inTime({ run: (call) => list.read(call), timeoutMs: patienceMs, signal, doing });
  } catch (cause) {
    if (cause instanceof SurfaceError && cause.code === "TIMEOUT") return undefined;
    throw cause;
  }
}

/** Proposes the keys that there are now, or of keys that are objects what stands in one variable. */
function toKeyCompleter(list: ResourceEntry, variable: TemplateVariable): Completer {
  return async (_begun, call) => {
    const content = await readList(list, call);
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
