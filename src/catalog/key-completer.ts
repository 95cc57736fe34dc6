import { isJsonObject, type JsonValue } from "../schema/json.ts";
import { nextTurn } from "../surface/owner/next-turn.ts";
import type { Completer, ResourceEntry, TemplateEntry, TemplateVariable } from "./entry.ts";
import { KeyList } from "./key-list.ts";
import { isProposal, maxCountedProposals } from "./proposals.ts";
import { toSegment } from "./to-listed-items.ts";

/** After how many keys in one go whatever else there is to do has its turn: about a tenth of a millisecond. */
const keysInOneGo = 2048;

function valueOf(key: JsonValue | undefined, name: string): JsonValue | undefined {
  if (!isJsonObject(key)) return key;
  return Object.hasOwn(key, name) ? key[name] : undefined;
}

/** What of a key stands in one variable, as text; `undefined` where it is not what was begun, or no URI can spell it. */
function toProposal(value: JsonValue | undefined, variable: TemplateVariable, start: string): string | undefined {
  if (value === undefined || value === null || typeof value === "object") return undefined;
  const text = String(value);
  // Last, since it costs ten times what comparing does.
  return isProposal(text, start) && toSegment(value, variable) !== undefined ? text : undefined;
}

/** Proposes the keys that there are now, or of keys that are objects what stands in one variable: each once. */
function toKeyCompleter(list: KeyList, variable: TemplateVariable): Completer {
  return async (begun, { signal }) => {
    const keys = await list.keys(signal);
    const start = begun.toLowerCase();
    const proposals = new Set<string>();
    for (let index = 0; index < keys.length && proposals.size <= maxCountedProposals; index += 1) {
      if (index % keysInOneGo === keysInOneGo - 1) await nextTurn();
      if (signal.aborted) return [];
      const proposal = toProposal(valueOf(keys[index], variable.name), variable, start);
      if (proposal !== undefined) proposals.add(proposal);
    }
    return [...proposals];
  };
}

/** The template of a collection's items, whose variables are proposed by what the list of its keys says. */
export function withKeyCompleters(template: TemplateEntry, resource: ResourceEntry): TemplateEntry {
  const list = new KeyList(resource);
  const variables = template.variables.map((variable) =>
    Object.freeze({ ...variable, complete: toKeyCompleter(list, variable) }),
  );
  return { ...template, variables: Object.freeze(variables) };
}
