import { SurfaceError } from "../../errors.ts";
import { deepFreeze } from "../../schema/json.ts";
import type { JsonObject, JsonSchema } from "../../schema/json.ts";
import type { CompiledSchema } from "../../schema/compile-schema.ts";
import { subscribeTo } from "../../surface/channel.ts";
import { compileOutput } from "../compile-output.ts";
import { syntheticFields } from "../../tags/synthetic-fields.ts";
import { bareSchema, encodeBare, stringifyBare } from "../resource-value.ts";
import { collectFrames } from "../collect-frames.ts";
import type { ToolEntry } from "../entry.ts";
import { originOf, type Exposed, type KindMapping, type ResourceEntries } from "../mapping.ts";
import { capField, readField, toFieldSchema, type NumberField } from "../number-field.ts";
import { toListenedEntries } from "../resource-entries.ts";
import { toToolHints } from "../tool-hints.ts";
import { splitFields, toToolInput } from "../tool-input.ts";
import { toToolHead } from "../tool-head.ts";
import { withFields } from "../with-fields.ts";
import { withHeartbeat } from "../heartbeat.ts";
import type { MemberOfKind } from "../../surface/member.ts";

const maxItems: NumberField = {
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

/** How much longer than its longest wait a pull may take before it is a fault, in milliseconds. */
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
      json: withFields(own.json, { max_items: toFieldSchema(maxItems), wait_ms: toFieldSchema(wait) }),
      decode(args: JsonObject): Pull {
        const [input, extra] = splitFields(args, syntheticFields.stream);
        return { input: own.decode(input), maxItems: readField(maxItems, extra), waitMs: readField(wait, extra) };
      },
    },
    output: {
      json: toPullSchema(output),
      stringify: (value) => JSON.stringify(value),
    },
    timeoutMs: wait.maximum + slackMs,
    countsQuestions: options.timeoutMs !== undefined,
    async run(input, call) {
      // decode() made it.
      const pull = input as Pull;
      const open = (signal: AbortSignal): AsyncIterable<unknown> =>
        channel.subscribe({ verb: "open", member: key, argument: pull.input, options: { signal } });
      const { items, ended } = await withHeartbeat(collectFrames({ open, signal: call.signal }, pull), call);
      return { items: items.map((item) => encodeBare(output, item)), ended };
    },
  };
}

function asResource(exposed: Exposed<MemberOfKind<"stream">>): ResourceEntries {
  const { key, member } = exposed;
  const origin = originOf(exposed);
  const output = compileOutput(member.output, origin);
  return toListenedEntries<readonly unknown[]>(exposed, (input) => ({
    fetch: async (channel, use) => [
      await channel.request({ verb: "latest", member: key, argument: input, options: use }),
    ],
    follow: (channel, use) => subscribeTo(channel, { verb: "watchLatest", member: key, argument: input, options: use }),
    render(newest) {
      if (newest.length > 0) return stringifyBare(output, newest[0]);
      throw new SurfaceError("ABSENT", `Writing the newest frame of ${origin}: there is none yet`);
    },
  }));
}

/** A stream is the resource of its newest frame (a template where it takes input), or a tool that pulls a few frames. */
export const streamMapping: KindMapping<"stream"> = {
  asTool,
  asResource,
};
