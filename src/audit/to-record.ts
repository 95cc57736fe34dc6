import type { Observation, RefusalStage, WorkStart } from "../observe/observation.ts";
import { clipText } from "../schema/visible-text.ts";
import { maxLineBytes } from "./chain.ts";

/** The fields that a record of the log has in common with its observation. No other field of an observation is written. */
const copiedFields = [
  ...["id", "parent", "transport", "protocol", "session", "caller", "client", "address", "view", "method", "operation"],
  ...[
    "kind",
    "isConfirmation",
    "decidedOn",
    "answer",
    "surface",
    "reason",
    "added",
    "removed",
    "tools",
    "arguments",
    "callId",
  ],
  ...["outcome", "refusedAt", "stage", "status", "code", "rpcCode", "correlationId", "ms", "bytesIn", "bytesOut"],
] as const;

/** The largest text of a record that would be too large. */
const maxCutBytes = 256;

/** Returns whether the log has a record of the start of a request or call: if it may change something, or has arguments. */
export function isRecordedAtStart(start: WorkStart): boolean {
  return start.operation?.mutates === true || start.arguments !== undefined;
}

function toDecision(stage: RefusalStage | undefined): "allowed" | "declined" | "denied" {
  if (stage === undefined) return "allowed";
  return stage === "confirm" ? "declined" : "denied";
}

/** The decision about a request or call, in the records of its end and of refusals. */
function decisionOf(observation: Observation): string | undefined {
  if (observation.type === "refused") return toDecision(observation.stage);
  return "outcome" in observation ? toDecision(observation.refusedAt) : undefined;
}

/** Returns the fields of a record as JSON: who, what, by which way, the decision and the outcome. */
export function toRecord(observation: Observation): string {
  const record: Record<string, unknown> = { type: observation.type, at: new Date(observation.at).toISOString() };
  for (const name of copiedFields) {
    const value: unknown = Reflect.get(observation, name);
    if (value !== undefined) record[name] = value;
  }
  const decision = decisionOf(observation);
  if (decision !== undefined) record["decision"] = decision;
  if ("ms" in observation) record["ms"] = Math.round(observation.ms * 1000) / 1000;
  // The identifier of the trace, between the version and the identifier of the span.
  if ("trace" in observation && observation.trace !== undefined)
    record["traceId"] = observation.trace.traceparent.slice(3, 35);
  const text = JSON.stringify(record);
  // A UTF-16 unit is at most 3 bytes, so most records need no count.
  const isTooLarge = text.length * 3 > maxLineBytes && Buffer.byteLength(text) > maxLineBytes / 2;
  return isTooLarge ? JSON.stringify({ ...record, isCut: true }, cut) : text;
}

/** Shortens the members of a record. */
function cut(name: string, value: unknown): unknown {
  if (name === "arguments") return "[omitted]";
  if (Array.isArray(value)) return value.length;
  return typeof value === "string" ? clipText(value, maxCutBytes) : value;
}
