import { SurfaceError } from "../../errors.ts";
import { deepFreeze, type JsonObject, type JsonSchema } from "../../schema/json.ts";
import { LinkedAbort } from "../../spine/signals.ts";
import { capField, compileOutput, readField, toFieldSchema, type NumberField } from "../tool-schemas.ts";
import { originOf, type KindMapping } from "./mapping.ts";
import { encodeBare, stringifyBare, toListenedEntries, toMemberView } from "./resource-entries.ts";
import { toWaitingTool } from "./waiting-tool.ts";

/** Bounds of pulled items. */
export interface PullLimits {
  readonly maxItems: number;
  readonly waitMs: number;
}

interface Pulled {
  readonly items: readonly unknown[];
  /** Whether the stream ended, so that nothing follows. */
  readonly ended: boolean;
}

/** A stream that is not open yet; the signal ends it. */
export interface Pullable {
  readonly signal: AbortSignal;
  open(signal: AbortSignal): AsyncIterable<unknown>;
}

const late = Symbol("late");

// An async generator that waits for a frame takes return() only after that frame, so its signal fires, too. The caller waits for
// neither: the time that the other side needs to clean up is not the caller's.
/** Ends a stream. */
async function end(iterator: AsyncIterator<unknown> | undefined, stop: LinkedAbort): Promise<void> {
  stop.abort();
  stop.dispose();
  try {
    await iterator?.return?.();
  } catch {
    // The owner reports it.
  }
}

async function collect(iterator: AsyncIterator<unknown>, maxItems: number, deadline: Promise<symbol>): Promise<Pulled> {
  const items: unknown[] = [];
  while (items.length < maxItems) {
    const next = iterator.next();
    const step = await Promise.race([next, deadline]);
    if (typeof step === "symbol") {
      // A late rejection must not end the process.
      next.catch(() => {});
      return { items, ended: false };
    }
    if (step.done === true) return { items, ended: true };
    items.push(step.value);
  }
  return { items, ended: false };
}

/** Takes frames until there are enough, the time is up or the stream ends; then stops the stream. */
export async function collectFrames(stream: Pullable, { maxItems, waitMs }: PullLimits): Promise<Pulled> {
  const stop = new LinkedAbort(stream.signal);
  let iterator: AsyncIterator<unknown> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<typeof late>((resolve) => {
    timer = setTimeout(() => resolve(late), waitMs);
  });
  try {
    iterator = stream.open(stop.signal)[Symbol.asyncIterator]();
    return await collect(iterator, maxItems, deadline);
  } finally {
    clearTimeout(timer);
    void end(iterator, stop);
  }
}

const itemLimit: NumberField = {
  name: "max_items",
  minimum: 1,
  maximum: 1000,
  default: 20,
  description: "Return after this many items",
};

const longestWait: NumberField = {
  name: "wait_ms",
  minimum: 0,
  maximum: 60_000,
  default: 1000,
  description: "Return the items so far after this many milliseconds",
};

/** The arguments of a tool that pulls items. */
export interface PullArguments {
  /** The argument that bounds the wait. */
  readonly wait: NumberField;
  readonly fields: Readonly<Record<string, JsonSchema>>;
  /** Reads the arguments. @throws SurfaceError `VALIDATION_ERROR`. */
  readonly readFields: (args: JsonObject) => PullLimits;
}

/** Returns the arguments of a tool that pulls items. @param timeoutMs - the longest wait. @default 60,000 */
export function toPullArguments(timeoutMs: number | undefined): PullArguments {
  const wait = capField(longestWait, timeoutMs);
  return {
    wait,
    fields: { max_items: toFieldSchema(itemLimit), wait_ms: toFieldSchema(wait) },
    readFields: (args) => ({ maxItems: readField(itemLimit, args), waitMs: readField(wait, args) }),
  };
}

/** Returns the schema of pulled items. @param item - the schema of one. */
export function toPullSchema(item: JsonSchema): JsonSchema {
  return deepFreeze({
    type: "object",
    properties: {
      items: { type: "array", items: { ...item } },
      ended: { type: "boolean", description: "The stream has ended: no items follow" },
    },
    required: ["items", "ended"],
    additionalProperties: false,
  });
}

/** A stream is a resource with its newest frame (a template if it takes input), or a tool that pulls a few frames. */
export const streamMapping: KindMapping<"stream"> = {
  asTool(exposed) {
    const { key, member, channel, options } = exposed;
    const output = compileOutput(member.output, originOf(exposed));
    return toWaitingTool(exposed, {
      ...toPullArguments(options.timeoutMs),
      output: toPullSchema(output.bare.json),
      async run(pull, call) {
        const open = (signal: AbortSignal): AsyncIterable<unknown> =>
          channel.subscribe({ verb: "open", member: key, argument: pull.input, options: { signal } });
        const { items, ended } = await collectFrames({ open, signal: call.signal }, pull);
        return { items: items.map((item) => encodeBare(output, item)), ended };
      },
    });
  },
  asResource(exposed) {
    const { key: member } = exposed;
    const origin = originOf(exposed);
    const output = compileOutput(exposed.member.output, origin);
    const render = (newest: readonly unknown[]): string => {
      if (newest.length > 0) return stringifyBare(output, newest[0]);
      throw new SurfaceError("ABSENT", `Cannot read the newest frame of ${origin}: there is none yet`);
    };
    return toListenedEntries(exposed, (argument) => ({
      ...toMemberView({ member, argument, read: "latest", watch: "watchLatest" }, render),
      fetch: async (channel, options) => [await channel.request({ verb: "latest", member, argument, options })],
    }));
  },
};
