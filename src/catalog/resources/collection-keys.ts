import { SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonValue } from "../../schema/json.ts";
import { anonymous } from "../../surface/caller.ts";
import { nextTurn } from "../../surface/owner/waiting.ts";
import { contentText } from "../content/resource-body.ts";
import { isProposal, maxCountedProposals } from "../custom/completers.ts";
import type {
  Completer,
  EntryCall,
  ListedItem,
  ResourceContent,
  ResourceEntry,
  TemplateEntry,
  TemplateVariable,
} from "../entry.ts";
import { maxUriLength, readVariable } from "../resolve-uri.ts";
import { argumentOf } from "../tool-schemas.ts";
import { inTime } from "./follow-changes.ts";

/** Items of one collection that are listed: more than a person picks from, and one page. */
export const maxListedItems = 1000;

/** Returns the value of one variable in an item's key. */
function valueOf(key: JsonValue, name: string): JsonValue | undefined {
  return isJsonObject(key) ? argumentOf(key, name) : key;
}

/** Returns the values of a template's variables in an item's key, up to the last one that is set. */
function valuesOf(key: JsonValue, variables: readonly TemplateVariable[]): readonly (JsonValue | undefined)[] {
  const values = variables.map(({ name }) => valueOf(key, name));
  return values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
}

/** Returns a value as one segment of a path; `undefined` if reading the segment would not return the same value. */
function toSegment(value: JsonValue | undefined, variable: TemplateVariable | undefined): string | undefined {
  if (value === undefined || value === null || typeof value === "object" || variable === undefined) return undefined;
  try {
    const segment = encodeURIComponent(value);
    return readVariable(segment, variable) === value ? segment : undefined;
  } catch {
    // Half a surrogate pair.
    return undefined;
  }
}

function toItem(key: JsonValue, { id, base, variables }: TemplateEntry): ListedItem | undefined {
  const values = valuesOf(key, variables);
  const segments = values.flatMap((value, index) => toSegment(value, variables[index]) ?? []);
  const uri = [base, ...segments].join("/");
  if (segments.length === 0 || segments.length < values.length || uri.length > maxUriLength) return undefined;
  return { uri, name: [id, ...segments.map((segment) => decodeURIComponent(segment))].join("/") };
}

/** Returns the keys in the JSON text of a list. */
function keysOf(text: string): readonly JsonValue[] {
  // What JSON.parse returns is a JSON value.
  const list = JSON.parse(text) as JsonValue;
  if (Array.isArray(list)) return list;
  const items = isJsonObject(list) ? list["items"] : undefined;
  return Array.isArray(items) ? items.flatMap((item) => (isJsonObject(item) ? (item["key"] ?? []) : [])) : [];
}

/**
 * Returns the items in the JSON text of a collection's list, sorted by URI: the first {@link maxListedItems} of them. Leaves out an
 * item whose key cannot be written into a URI: it cannot be read by a URI either.
 */
export function toListedItems(text: string, template: TemplateEntry): readonly ListedItem[] {
  const items = keysOf(text).flatMap((key) => toItem(key, template) ?? []);
  items.sort((left, right) => (left.uri < right.uri ? -1 : 1));
  return Object.freeze(items.slice(0, maxListedItems));
}

/** Milliseconds that a read of the keys may take: fewer than a completer may, so that an absent backend is not a fault. */
const readTimeoutMs = 4000;

/** Keys compared before other work gets a turn: about a tenth of a millisecond. */
const keysPerTurn = 2048;

type Keys = readonly JsonValue[];

const noKeys: Keys = Object.freeze([]);

/** Returns the current keys of a collection; none if the backend takes too long. Rejects as the read does, and when the signal fires. */
type ReadKeys = (signal: AbortSignal) => Promise<Keys>;

function createKeyReader(list: ResourceEntry): ReadKeys {
  const doing = `Proposing keys of ${list.origin}`;
  const run = async (call: EntryCall): Promise<ResourceContent | undefined> => list.read(call);
  // The last keys: they rarely change, and parsing takes the longest.
  let known: { readonly text: string; readonly keys: Keys } | undefined;
  return async (signal) => {
    const read = { run, caller: anonymous, timeoutMs: readTimeoutMs, signal, doing };
    const content = await inTime(read).catch((cause: unknown) => {
      if (!(cause instanceof SurfaceError) || cause.code !== "TIMEOUT") throw cause;
      return undefined;
    });
    const text = content === undefined ? undefined : contentText(content);
    if (text === undefined) return noKeys;
    if (known?.text !== text) {
      const keys: unknown = JSON.parse(text);
      known = { text, keys: Array.isArray(keys) ? keys : noKeys };
    }
    return known.keys;
  };
}

/** Returns the value of one variable in a key, as text; `undefined` if it does not match, or if no URI can contain it. */
function toProposal(key: JsonValue | undefined, variable: TemplateVariable, start: string): string | undefined {
  const own = key === undefined ? undefined : valueOf(key, variable.name);
  if (own === undefined || own === null || typeof own === "object") return undefined;
  const text = String(own);
  // toSegment() last: it costs ten times the comparison.
  return isProposal(text, start) && toSegment(own, variable) !== undefined ? text : undefined;
}

function toKeyCompleter(readKeys: ReadKeys, variable: TemplateVariable): Completer {
  return async (begun, { signal }) => {
    const keys = await readKeys(signal);
    const start = begun.toLowerCase();
    const proposals = new Set<string>();
    for (let index = 0; index < keys.length && proposals.size <= maxCountedProposals; index += 1) {
      if (index % keysPerTurn === keysPerTurn - 1) await nextTurn();
      if (signal.aborted) return [];
      const proposal = toProposal(keys[index], variable, start);
      if (proposal !== undefined) proposals.add(proposal);
    }
    return [...proposals];
  };
}

/** Returns a template of items whose variables are completed from the current keys of the collection. */
export function withKeyCompleters(template: TemplateEntry, resource: ResourceEntry): TemplateEntry {
  const readKeys = createKeyReader(resource);
  const variables = template.variables.map((variable) =>
    Object.freeze({ ...variable, complete: toKeyCompleter(readKeys, variable) }),
  );
  return { ...template, variables: Object.freeze(variables) };
}
