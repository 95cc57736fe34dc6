import { SurfaceError } from "../errors.ts";
import type { JsonValue } from "../schema/json.ts";
import { untilAborted } from "../spine/until-aborted.ts";
import { anonymous } from "../surface/caller.ts";
import type { EntryCall, ResourceContent, ResourceEntry } from "./entry.ts";
import { inTime } from "./in-time.ts";
import { textOf } from "./resource-content.ts";

/** How long the keys may take, in milliseconds: less than a completer may, so that waiting for a backend is no fault. */
const patienceMs = 4000;

type Keys = readonly JsonValue[];

const noKeys: Keys = Object.freeze([]);

/** A read that is under way, for everybody who wants it. */
interface Reading {
  readonly keys: Promise<Keys>;
  readonly stop: AbortController;
  waiting: number;
}

/** The keys of a collection, in their JSON form: read once for all who want them at the same time. */
export class KeyList {
  readonly #list: ResourceEntry;
  readonly #doing: string;
  #reading: Reading | undefined;
  /** What was read last: most often nothing has changed since, and the text is the longest part to take apart. */
  #known: { readonly text: string; readonly keys: Keys } | undefined;

  constructor(list: ResourceEntry) {
    this.#list = list;
    this.#doing = `Proposing keys of ${list.origin}`;
  }

  /**
   * The keys that there are now; none where the backend is away for longer than somebody who writes waits. The read ends
   * with the last who waits for it.
   *
   * @throws SurfaceError `ABORTED`, or the signal's own reason; and what reading rejects with.
   */
  async keys(signal: AbortSignal): Promise<Keys> {
    const reading = (this.#reading ??= this.#begin());
    reading.waiting += 1;
    try {
      return await untilAborted({ start: () => reading.keys, signal, doing: this.#doing });
    } finally {
      reading.waiting -= 1;
      if (reading.waiting === 0) this.#end(reading);
    }
  }

  #begin(): Reading {
    const stop = new AbortController();
    const reading: Reading = { keys: this.#read(stop.signal), stop, waiting: 0 };
    const end = (): void => this.#forget(reading);
    // Its failure is told to those who wait for it.
    reading.keys.then(end, end);
    return reading;
  }

  #end(reading: Reading): void {
    this.#forget(reading);
    reading.stop.abort();
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
    const run = async (call: EntryCall): Promise<ResourceContent | undefined> => this.#list.read(call);
    try {
      return await inTime({ run, caller: anonymous, timeoutMs: patienceMs, signal, doing: this.#doing });
    } catch (cause) {
      if (cause instanceof SurfaceError && cause.code === "TIMEOUT") return undefined;
      throw cause;
    }
  }
}
