import { SurfaceError } from "../../errors.ts";
import { deepFreeze, type JsonObject, type JsonSchema } from "../../schema/json.ts";
import type { CompiledSchema } from "../../schema/compile-schema.ts";
import { requestFrom } from "../../surface/channel.ts";
import type { EventPage, EventWait } from "../../surface/client.ts";
import { defaultWaitMs, maxWaitMs } from "../../surface/owner/event-owner.ts";
import { syntheticFields } from "../../tags/tool-options.ts";
import { bareSchema, encodeBare, toListenedEntries, toMemberView } from "./resource-entries.ts";
import { compileOutput, splitFields, toToolInput, withFields } from "../tool-schemas.ts";
import type { ToolEntry } from "../entry.ts";
import { originOf, type Exposed, type KindMapping, type ResourceEntries } from "./mapping.ts";
import { capField, readField, toFieldSchema, type NumberField } from "../number-field.ts";
import { toToolHints, toToolHead } from "../tool-head.ts";
import { withHeartbeat } from "../heartbeat.ts";
import type { MemberOfKind } from "../../surface/member.ts";

const longestWait: NumberField = {
  name: "timeout_ms",
  minimum: 0,
  maximum: maxWaitMs,
  default: defaultWaitMs,
  description: "Answer timed_out after this many milliseconds",
};

const sinceSchema: JsonSchema = Object.freeze({
  type: "string",
  description:
    "The cursor of an earlier answer: wait for what happened after it. Leave out to wait for what happens next",
});

/** Milliseconds that a call may take beyond its longest wait before it fails with `TIMEOUT`. */
const slackMs = 5000;

interface Wait {
  readonly input: unknown;
  readonly since: string | undefined;
  readonly timeoutMs: number;
}

function toWaitSchema(output: CompiledSchema): JsonSchema {
  return deepFreeze({
    type: "object",
    properties: {
      status: { type: "string", enum: ["fired", "timed_out", "interrupted"] },
      cursor: { type: "string", description: "Say this as since in the next call and nothing in between is lost" },
      occurrence: { ...bareSchema(output) },
      missed: { type: "integer", description: "Occurrences in between that were no longer kept" },
      reset: { type: "boolean", description: "The cursor was unknown or too old" },
      hint: { type: "string", description: "What to do after interrupted" },
    },
    required: ["status", "cursor"],
    additionalProperties: false,
  });
}

function readSince(extra: JsonObject): string | undefined {
  const since = Object.hasOwn(extra, "since") ? extra["since"] : undefined;
  if (since === undefined || typeof since === "string") return since;
  throw new SurfaceError("VALIDATION_ERROR", 'Reading "since": it does not fit', {
    issues: [{ path: "since", message: "expected the cursor of an earlier answer, a string" }],
  });
}

/** Tells the agent what to do after a wait that ended early: an occurrence may have been missed. */
const interruptedHint =
  "The application was restarted, or does not know this cursor: occurrences may have been missed. " +
  "Read the current state, then wait again with since set to the cursor of this answer.";

function toAnswer(wait: EventWait, output: CompiledSchema): JsonObject {
  const isInterrupted = wait.status === "timed_out" && wait.reset === true;
  return {
    status: isInterrupted ? "interrupted" : wait.status,
    cursor: wait.cursor,
    ...(isInterrupted ? { hint: interruptedHint } : {}),
    ...(wait.status === "fired" ? { occurrence: encodeBare(output, wait.occurrence) } : {}),
    ...(wait.missed === undefined ? {} : { missed: wait.missed }),
    ...(wait.reset === undefined ? {} : { reset: wait.reset }),
  };
}

function toPage(page: EventPage, output: CompiledSchema): string {
  return JSON.stringify({
    cursor: page.cursor,
    occurrences: page.occurrences.map((occurrence) => encodeBare(output, occurrence)),
  });
}

function asTool(exposed: Exposed<MemberOfKind<"event">>): ToolEntry {
  const { key, member, channel, options } = exposed;
  const origin = originOf(exposed);
  const own = toToolInput(member.input, origin);
  const output = compileOutput(member.output, origin);
  const timeout = capField(longestWait, options.timeoutMs);
  return {
    ...toToolHead(exposed, toToolHints("read", { openWorld: options.openWorld ?? false }), own),
    input: {
      root: own.root,
      refusedKeywords: own.refusedKeywords,
      json: withFields(own.json, { since: sinceSchema, timeout_ms: toFieldSchema(timeout) }),
      decode(args: JsonObject): Wait {
        const [input, extra] = splitFields(args, syntheticFields.event);
        return { input: own.decode(input), since: readSince(extra), timeoutMs: readField(timeout, extra) };
      },
    },
    output: { json: toWaitSchema(output), stringify: (value) => JSON.stringify(value) },
    timeoutMs: timeout.maximum + slackMs,
    countsQuestions: options.timeoutMs !== undefined,
    async run(input, call) {
      // The result of `decode`.
      const { since, timeoutMs, input: argument } = input as Wait;
      const { signal } = call;
      const use = { signal, timeoutMs, ...(since === undefined ? {} : { since }) };
      const answer = requestFrom(channel, { verb: "wait", member: key, argument, options: use });
      return toAnswer(await withHeartbeat(Promise.resolve(answer), call), output);
    },
  };
}

function asResource(exposed: Exposed<MemberOfKind<"event">>): ResourceEntries {
  const { key: member } = exposed;
  const output = compileOutput(exposed.member.output, originOf(exposed));
  const render = (page: EventPage): string => toPage(page, output);
  return toListenedEntries(exposed, (argument) =>
    toMemberView({ member, argument, read: "recent", watch: "watchRecent" }, render),
  );
}

/** An event is a resource with its last occurrences, or a tool that waits for the next one. */
export const eventMapping: KindMapping<"event"> = { asTool, asResource };
