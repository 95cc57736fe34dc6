import { LinkedAbort } from "../../spine/signals.ts";
import { SurfaceError } from "../../errors.ts";
import { deepFreeze, type JsonObject, type JsonSchema } from "../../schema/json.ts";
import type { CompiledSchema } from "../../schema/compile-schema.ts";
import { compileOutput, splitFields, toToolInput, withFields } from "../tool-schemas.ts";
import { syntheticFields } from "../../tags/tool-options.ts";
import { bareSchema, encodeBare, stringifyBare, toListenedEntries, toMemberView } from "./resource-entries.ts";
import type { ToolEntry } from "../entry.ts";
import { originOf, type Exposed, type KindMapping, type ResourceEntries } from "./mapping.ts";
import { capField, readField, toFieldSchema, type NumberField } from "../number-field.ts";
import { toToolHints, toToolHead } from "../tool-head.ts";
import { withHeartbeat } from "../heartbeat.ts";
import type { MemberOfKind } from "../../surface/member.ts";

interface PullLimits {
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
  description: "Return what there is after this many milliseconds",
};

/** Milliseconds that a call may take beyond its longest wait before it fails with `TIMEOUT`. */
const slackMs = 5000;

interface Pull {
  readonly input: unknown;
  readonly maxItems: number;
  readonly waitMs: number;
}

function toPullSchema(output: CompiledSchema): JsonSchema {
  return deepFreeze({
    type: "object",
    properties: {
      items: { type: "array", items: { ...bareSchema(output) } },
      ended: { type: "boolean", description: "The stream ended: there is nothing after these items" },
    },
    required: ["items", "ended"],
    additionalProperties: false,
  });
}

function asTool(exposed: Exposed<MemberOfKind<"stream">>): ToolEntry {
  const { key, member, channel, options } = exposed;
  const origin = originOf(exposed);
  const own = toToolInput(member.input, origin);
  const output = compileOutput(member.output, origin);
  const wait = capField(longestWait, options.timeoutMs);
  return {
    ...toToolHead(exposed, toToolHints("read", { openWorld: options.openWorld ?? false }), own),
    input: {
      root: own.root,
      refusedKeywords: own.refusedKeywords,
      json: withFields(own.json, { max_items: toFieldSchema(itemLimit), wait_ms: toFieldSchema(wait) }),
      decode(args: JsonObject): Pull {
        const [input, extra] = splitFields(args, syntheticFields.stream);
        return { input: own.decode(input), maxItems: readField(itemLimit, extra), waitMs: readField(wait, extra) };
      },
    },
    output: { json: toPullSchema(output), stringify: (value) => JSON.stringify(value) },
    timeoutMs: wait.maximum + slackMs,
    countsQuestions: options.timeoutMs !== undefined,
    async run(input, call) {
      // The result of `decode`.
      const pull = input as Pull;
      const open = (signal: AbortSignal): AsyncIterable<unknown> =>
        channel.subscribe({ verb: "open", member: key, argument: pull.input, options: { signal } });
      const { items, ended } = await withHeartbeat(collectFrames({ open, signal: call.signal }, pull), call);
      return { items: items.map((item) => encodeBare(output, item)), ended };
    },
  };
}

function asResource(exposed: Exposed<MemberOfKind<"stream">>): ResourceEntries {
  const { key: member } = exposed;
  const origin = originOf(exposed);
  const output = compileOutput(exposed.member.output, origin);
  const render = (newest: readonly unknown[]): string => {
    if (newest.length > 0) return stringifyBare(output, newest[0]);
    throw new SurfaceError("ABSENT", `Writing the newest frame of ${origin}: there is none yet`);
  };
  return toListenedEntries(exposed, (argument) => ({
    ...toMemberView({ member, argument, read: "latest", watch: "watchLatest" }, render),
    fetch: async (channel, options) => [await channel.request({ verb: "latest", member, argument, options })],
  }));
}

/** A stream is a resource with its newest frame (a template if it takes input), or a tool that pulls a few frames. */
export const streamMapping: KindMapping<"stream"> = { asTool, asResource };
