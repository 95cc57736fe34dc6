import { SurfaceError } from "../../errors.ts";
import { isJsonObject, type JsonValue } from "../../schema/json.ts";
import { untilAborted } from "../../spine/signals.ts";
import { anonymous } from "../../surface/caller.ts";
import { nextTurn } from "../../surface/owner/waiting.ts";
import type { Completer, ResourceContent, ResourceEntry, TemplateEntry, TemplateVariable } from "../entry.ts";
import { inTime } from "./in-time.ts";
import { isProposal, maxCountedProposals } from "../custom/completers.ts";
import { textOf } from "../content/resource-body.ts";
import { toSegment } from "./to-listed-items.ts";

/** Milliseconds until a read of the keys is given up: less than a completer may take, so that an absent backend is no fault. */
const patienceMs = 4000;

/** Keys that are looked at before other work gets a turn: about a tenth of a millisecond. */
const keysInOneGo = 2048;

type Keys = readonly JsonValue[];

const noKeys: Keys = Object.freeze([]);

/** A read under way, shared by all completions that wait for it. */
interface Reading {
  readonly keys: Promise<Keys>;
  readonly stop: AbortController;
  waiting: number;
}

/** The keys of a collection as JSON. Completions at the same time share one read. */
export class KeyList {
  readonly #list: ResourceEntry;
  readonly #doing: string;
  #reading: Reading | undefined;
  /** The last keys: they rarely change, and parsing takes the longest. */
  #known: { readonly text: string; readonly keys: Keys } | undefined;

  constructor(list: ResourceEntry) {
    this.#list = list;
    this.#doing = `Proposing keys of ${list.origin}`;
  }

  /**
   * Returns the current keys; none if the backend takes too long. The read is aborted when no caller waits for it any more.
   *
   * @throws SurfaceError `ABORTED`, or the signal's own reason; and the error of the read.
   */
  async keys(signal: AbortSignal): Promise<Keys> {
    const reading = (this.#reading ??= this.#begin());
    reading.waiting += 1;
    try {
      return await untilAborted({ start: () => reading.keys, signal, doing: this.#doing });
    } finally {
      reading.waiting -= 1;
      if (reading.waiting === 0) {
        this.#forget(reading);
        reading.stop.abort();
      }
    }
  }

  #begin(): Reading {
    const stop = new AbortController();
    const reading: Reading = { keys: this.#read(stop.signal), stop, waiting: 0 };
    const end = (): void => this.#forget(reading);
    // The callers that wait get the failure.
    reading.keys.then(end, end);
    return reading;
  }

  #forget(reading: Reading): void {
    if (this.#reading === reading) this.#reading = undefined;
  }

  async #read(signal: AbortSignal): Promise<Keys> {
    const content = await this.#content(signal);
    const text = content === undefined ? undefined : textOf(content);
    if (text === undefined) return noKeys;
    if (this.#known?.text !== text) {
      const keys: unknown = JSON.parse(text);
      this.#known = { text, keys: Array.isArray(keys) ? keys : noKeys };
    }
    return this.#known.keys;
  }

  async #content(signal: AbortSignal): Promise<ResourceContent | undefined> {
    try {
      return await inTime({
        run: async (call) => this.#list.read(call),
        ...{ caller: anonymous, timeoutMs: patienceMs, signal, doing: this.#doing },
      });
    } catch (cause) {
      if (cause instanceof SurfaceError && cause.code === "TIMEOUT") return undefined;
      throw cause;
    }
  }
}

/** Returns the value of one variable in a key, as text; `undefined` if it does not match, or if no URI can contain it. */
function toProposal(key: JsonValue | undefined, variable: TemplateVariable, start: string): string | undefined {
  const { name } = variable;
  const own = isJsonObject(key) ? (Object.hasOwn(key, name) ? key[name] : undefined) : key;
  if (own === undefined || own === null || typeof own === "object") return undefined;
  const text = String(own);
  // toSegment() last: it costs ten times the comparison.
  return isProposal(text, start) && toSegment(own, variable) !== undefined ? text : undefined;
}

function toKeyCompleter(list: KeyList, variable: TemplateVariable): Completer {
  return async (begun, { signal }) => {
    const keys = await list.keys(signal);
    const start = begun.toLowerCase();
    const proposals = new Set<string>();
    for (let index = 0; index < keys.length && proposals.size <= maxCountedProposals; index += 1) {
      if (index % keysInOneGo === keysInOneGo - 1) await nextTurn();
      if (signal.aborted) return [];
      const proposal = toProposal(keys[index], variable, start);
      if (proposal !== undefined) proposals.add(proposal);
    }
    return [...proposals];
  };
}

/** Returns a template of items whose variables are completed from the current keys of the collection. */
export function withKeyCompleters(template: TemplateEntry, resource: ResourceEntry): TemplateEntry {
  const list = new KeyList(resource);
  const variables = template.variables.map((variable) =>
    Object.freeze({ ...variable, complete: toKeyCompleter(list, variable) }),
  );
  return { ...template, variables: Object.freeze(variables) };
}
