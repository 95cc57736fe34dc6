import type { CompiledSchema } from "../../schema/compile-schema.ts";
import { deepFreeze, type JsonObject, type JsonSchema } from "../../schema/json.ts";
import { requestFrom } from "../../surface/channel.ts";
import type { EventPage, EventWait } from "../../surface/client.ts";
import { capField, compileOutput, readField, toFieldSchema } from "../tool-schemas.ts";
import { originOf, type KindMapping } from "./mapping.ts";
import { encodeBare, toListenedEntries, toMemberView } from "./resource-entries.ts";
import { longestWait, readSince, toWaitingTool } from "./waiting-tool.ts";

const sinceSchema: JsonSchema = Object.freeze({
  type: "string",
  description:
    "The cursor of an earlier result: wait for what happened after it. Omit it to wait for what happens next",
});

function toWaitSchema(output: CompiledSchema): JsonSchema {
  return deepFreeze({
    type: "object",
    properties: {
      status: { type: "string", enum: ["fired", "timed_out", "interrupted"] },
      cursor: { type: "string", description: "Pass it as since in the next call to miss no occurrence in between" },
      occurrence: { ...output.bare.json },
      missed: { type: "integer", description: "Number of occurrences in between that were no longer kept" },
      reset: { type: "boolean", description: "The cursor was unknown or too old" },
      hint: { type: "string", description: "What to do after interrupted" },
    },
    required: ["status", "cursor"],
    additionalProperties: false,
  });
}

/** Tells the agent what to do after a wait that ended early: an occurrence may have been missed. */
const interruptedHint =
  "The application was restarted, or does not know this cursor: occurrences may have been missed. " +
  "Read the state, then wait again with since set to the cursor of this result.";

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

/** An event is a resource with its last occurrences, or a tool that waits for the next one. */
export const eventMapping: KindMapping<"event"> = {
  asTool(exposed) {
    const { key, member, channel, options } = exposed;
    const output = compileOutput(member.output, originOf(exposed));
    const wait = capField(longestWait, options.timeoutMs);
    return toWaitingTool(exposed, {
      wait,
      fields: { since: sinceSchema, timeout_ms: toFieldSchema(wait) },
      readFields: (args) => ({ since: readSince(args), timeoutMs: readField(wait, args) }),
      output: toWaitSchema(output),
      async run({ input: argument, since, timeoutMs }, { signal }) {
        const use = { signal, timeoutMs, ...(since === undefined ? {} : { since }) };
        return toAnswer(await requestFrom(channel, { verb: "wait", member: key, argument, options: use }), output);
      },
    });
  },
  asResource(exposed) {
    const { key: member } = exposed;
    const output = compileOutput(exposed.member.output, originOf(exposed));
    const render = ({ cursor, occurrences }: EventPage): string =>
      JSON.stringify({ cursor, occurrences: occurrences.map((occurrence) => encodeBare(output, occurrence)) });
    return toListenedEntries(exposed, (argument) =>
      toMemberView({ member, argument, read: "recent", watch: "watchRecent" }, render),
    );
  },
};
