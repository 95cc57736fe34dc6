import { anyCodec } from "../../schema/wire-codec.ts";
import { followAbort, type Cancellation } from "../../spine/signals.ts";
import type { Caller } from "../../surface/caller.ts";
import type { CallOptions } from "../../surface/client.ts";
import type { TraceContext } from "../../surface/trace-context.ts";
import { defaultTimeoutMs } from "../../tags/tool-options.ts";
import type { EntryCall, ProgressReport } from "../entry.ts";
import { originOf, type KindMapping } from "./mapping.ts";
import { toToolHints, toToolHead } from "../tool-head.ts";
import { toToolInput, toToolOutput } from "../tool-schemas.ts";
import { toDefined } from "../../observe/to-defined.ts";

function ownField(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

function numberAt(value: object, key: string): number | undefined {
  const found = ownField(value, key);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

/** Returns the JSON of a value; `undefined` if it has none. */
function jsonOf(value: unknown): string | undefined {
  try {
    return anyCodec.stringify(value);
  } catch {
    return undefined;
  }
}

/**
 * Returns the progress report of a value that a member yields. Fields named `progress`, `total` and `message` are taken as
 * they are; otherwise reports are counted and the value's JSON is the message.
 */
export function toProgressReport(value: unknown, count: number): ProgressReport {
  if (typeof value === "string") return { progress: count, message: value };
  if (typeof value === "number" && Number.isFinite(value)) return { progress: value };
  if (typeof value !== "object" || value === null) return { progress: count };
  const text = ownField(value, "message");
  const message = typeof text === "string" ? text : jsonOf(value);
  return toDefined({ progress: numberAt(value, "progress") ?? count, total: numberAt(value, "total"), message });
}

/** The options of the operation that a call of the tool becomes. */
export class EntryUse implements CallOptions, Cancellation {
  readonly #call: EntryCall;
  readonly idempotent: boolean;
  #count = 0;

  /** @param idempotent - whether the call only reads, so that it may be sent again when its connection is lost. */
  constructor(call: EntryCall, idempotent: boolean) {
    this.#call = call;
    this.idempotent = idempotent;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  whenAborted(callback: (reason: unknown) => void): () => void {
    return followAbort(this.#call, callback);
  }

  get caller(): Caller {
    return this.#call.caller;
  }

  get trace(): TraceContext | undefined {
    return this.#call.trace;
  }

  unsent(): void {
    this.#call.unsent?.();
  }

  readonly onProgress = (value: unknown): void => {
    this.#count += 1;
    this.#call.progress(toProgressReport(value, this.#count));
  };
}

/** A procedure is a tool, and mutates unless its author says that it only reads. */
export const procedureMapping: KindMapping<"procedure"> = {
  asTool(exposed) {
    const { key, member, channel, options, effect } = exposed;
    const origin = originOf(exposed);
    const hints = toToolHints(effect, options);
    const input = toToolInput(member.input, origin);
    return {
      ...toToolHead(exposed, hints, input),
      input,
      output: toToolOutput(member.output, origin),
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      countsQuestions: options.timeoutMs !== undefined,
      run(args, call) {
        const use = new EntryUse(call, hints.readOnlyHint);
        return channel.request({ verb: "call", member: key, argument: args, options: use });
      },
    };
  },
};
