import { anyCodec } from "../schema/wire-codec.ts";
import type { Caller } from "../surface/caller.ts";
import type { CallOptions, UseOptions } from "../surface/client.ts";
import type { EntryCall, ProgressReport } from "./entry.ts";

function numberAt(value: object, key: string): number | undefined {
  const found: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

function textAt(value: object, key: string): string | undefined {
  const found: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  return typeof found === "string" ? found : undefined;
}

/** The JSON of a value; nothing where it has none. */
function jsonOf(value: unknown): string | undefined {
  try {
    return anyCodec.stringify(value);
  } catch {
    return undefined;
  }
}

/**
 * What a member yields on its way -> a progress report. Fields named `progress`, `total` and `message` are taken as
 * they are; otherwise reports are counted and the value's JSON is the message.
 */
export function toProgressReport(value: unknown, count: number): ProgressReport {
  if (typeof value === "string") return { progress: count, message: value };
  if (typeof value === "number" && Number.isFinite(value)) return { progress: value };
  if (typeof value !== "object" || value === null) return { progress: count };
  const total = numberAt(value, "total");
  const message = textAt(value, "message") ?? jsonOf(value);
  return {
    progress: numberAt(value, "progress") ?? count,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message }),
  };
}

/** An entry's call as the options of a channel. The signal is made only if the far side asks for it. */
export class EntryUse implements CallOptions {
  readonly #call: EntryCall;
  readonly idempotent: boolean;
  #count = 0;

  /** @param idempotent - whether it only reads, and so may be sent again when its connection is lost. */
  constructor(call: EntryCall, idempotent: boolean) {
    this.#call = call;
    this.idempotent = idempotent;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get caller(): Caller {
    return this.#call.caller;
  }

  /** Called when the use ends before it was sent. */
  unsent(): void {
    this.#call.unsent?.();
  }

  readonly onProgress = (value: unknown): void => {
    this.#count += 1;
    this.#call.progress(toProgressReport(value, this.#count));
  };
}

/** The same, with what else a use takes. */
export function useWith<TMore extends object>(call: EntryCall, more: TMore): UseOptions & TMore {
  return {
    get signal() {
      return call.signal;
    },
    ...more,
  };
}
