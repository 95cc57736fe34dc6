import type { JsonObject, JsonSchema } from "../../schema/json.ts";
import type { MemberOfKind } from "../../surface/member.ts";
import { defaultWaitMs, maxWaitMs } from "../../surface/owner/event-owner.ts";
import { unrefTimer } from "../../surface/system-clock.ts";
import { syntheticFields } from "../../tags/tool-options.ts";
import type { EntryCall, ToolEntry } from "../entry.ts";
import { toToolHead, toToolHints } from "../tool-head.ts";
import {
  invalidArgument,
  argumentOf,
  splitFields,
  toToolInput,
  withFields,
  type NumberField,
} from "../tool-schemas.ts";
import { originOf, type ExposedMember } from "./mapping.ts";

/** Milliseconds that a call may take beyond its longest wait before it fails with `TIMEOUT`. */
export const slackMs = 5000;

/** Milliseconds between two progress reports of a wait. */
const heartbeatMs = 1000;

/** Reports the seconds waited as progress until `work` settles. The timer does not keep the process alive. */
export async function withHeartbeat<TAnswer>(
  work: Promise<TAnswer>,
  call: Pick<EntryCall, "progress">,
): Promise<TAnswer> {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    call.progress({ progress: seconds, message: `waiting, ${seconds} s` });
  }, heartbeatMs);
  unrefTimer(timer);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** The argument `timeout_ms` of the tools that wait. */
export const longestWait: NumberField = {
  name: "timeout_ms",
  minimum: 0,
  maximum: maxWaitMs,
  default: defaultWaitMs,
  description: "Milliseconds to wait before the call returns timed_out",
};

/** Reads the argument `since`. @throws SurfaceError `VALIDATION_ERROR`. */
export function readSince(args: JsonObject): string | undefined {
  const since = argumentOf(args, "since");
  if (since === undefined || typeof since === "string") return since;
  throw invalidArgument("since", "expected the cursor of an earlier result, a string");
}

/** The member's own input. */
interface WaitingInput {
  readonly input: unknown;
}

/** A tool that waits for a member. */
interface WaitingTool<TFields extends object> {
  /** The argument that bounds the wait. */
  readonly wait: NumberField;
  /** The arguments that every tool of the kind takes. */
  readonly fields: Readonly<Record<string, JsonSchema>>;
  /** Reads these arguments. @throws SurfaceError `VALIDATION_ERROR`. */
  readonly readFields: (args: JsonObject) => TFields;
  readonly output: JsonSchema;
  readonly run: (args: TFields & WaitingInput, call: EntryCall) => Promise<JsonObject>;
}

/** Creates the tool of a stream or an event, which reads and bounds its wait. */
export function toWaitingTool<TFields extends object>(
  exposed: ExposedMember<MemberOfKind<"event" | "stream">>,
  { wait, fields, readFields, output, run }: WaitingTool<TFields>,
): ToolEntry {
  const { member, options } = exposed;
  const own = toToolInput(member.input, originOf(exposed));
  return {
    ...toToolHead(exposed, toToolHints("read", { openWorld: options.openWorld ?? false }), own),
    input: {
      root: own.root,
      refusedKeywords: own.refusedKeywords,
      json: withFields(own.json, fields),
      decode(args) {
        const [input, extra] = splitFields(args, syntheticFields[member.kind]);
        return { input: own.decode(input), ...readFields(extra) };
      },
    },
    output: { json: output, stringify: (value) => JSON.stringify(value) },
    timeoutMs: wait.maximum + slackMs,
    countsQuestions: options.timeoutMs !== undefined,
    // decode() returned the arguments.
    run: (args, call) => withHeartbeat(run(args as TFields & WaitingInput, call), call),
  };
}
