import type { ToolEntry } from "../catalog/entry.ts";
import { createErrorResult, toResultText, type ErrorResult, type ToolOutcome } from "../catalog/outcome.ts";
import { toDefined } from "../observe/to-defined.ts";
import type { ObservedOperation, Outcome, QuestionAsked, RefusalStage } from "../observe/observation.ts";
import type { ObservedWork, WorkValues } from "../observe/observed-work.ts";
import type { WorkOutcome } from "../observe/work-records.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import type { CallContext } from "./call-context.ts";

/** The refusal of a call that an observer's `before` does not admit. */
export const unrecordedCall: ErrorResult = Object.freeze(
  createErrorResult("UNAVAILABLE", "the call cannot be recorded, so it has not run", { retryable: true }),
);

const outcomesOfCodes: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ["ABORTED", "cancelled"],
  ["CLOSED", "closed"],
  ["INPUT_REQUIRED", "asked"],
]);

/** The codes of refusals before a handler runs. A handler may throw some of them, too. */
const stagesOfCodes: ReadonlyMap<string, RefusalStage> = new Map<string, RefusalStage>([
  ["RATE_LIMITED", "rate"],
  ["OPERATION_NOT_FOUND", "name"],
  ["DECLINED", "confirm"],
  ["CLIENT_CANNOT", "confirm"],
  ["ASK_TIMEOUT", "confirm"],
  ["ASK_FAILED", "confirm"],
]);

/** A failure, as its caller sees it. */
export interface Failure {
  readonly code?: string | undefined;
  readonly correlationId?: string | undefined;
}

function stageOf(failure: Failure, call: CallContext | undefined): RefusalStage | undefined {
  if (failure === unrecordedCall) return "record";
  const { code } = failure;
  if (code === "VALIDATION_ERROR") return "params";
  return code === undefined || call?.isStarted === true ? undefined : stagesOfCodes.get(code);
}

/** Returns the outcome of a failure. @param call - decides whether a handler ran. */
export function toOutcome(failure: Failure, call: CallContext | undefined): WorkOutcome {
  const { code, correlationId } = failure;
  const refusedAt = stageOf(failure, call);
  const outcome = refusedAt === undefined ? (outcomesOfCodes.get(code ?? "") ?? "failed") : "refused";
  return toDefined({ outcome, code, correlationId, refusedAt });
}

/** One object for each tool, since an inspector keeps those of many requests. */
const tools = new WeakMap<ToolEntry, ObservedOperation>();

/** Returns a tool as records name it. Frozen. */
export function toObservedTool(entry: ToolEntry): ObservedOperation {
  const known = tools.get(entry);
  if (known !== undefined) return known;
  const { id, name, hints } = entry;
  const operation: ObservedOperation = Object.freeze({ kind: "tool", id, name, mutates: !hints.readOnlyHint });
  tools.set(entry, operation);
  return operation;
}

/** Returns the values of a call for records. The records of nested calls have those that a tool relays, by the right schemas. */
export function toWorkValues({ input, output, isRelaying }: ToolEntry, args: JsonValue | undefined): WorkValues {
  return isRelaying === true ? { hidesResult: true } : { input: input.json, output: output.json, arguments: args };
}

/** Records the start of a nested call; `undefined` if nothing observes the request that it belongs to. */
export function observeNested(entry: ToolEntry, args: JsonObject, call: CallContext): ObservedWork | undefined {
  const parent = call.partOf?.call.observed;
  const id = call.tracked?.requestId;
  if (parent === undefined || id === undefined) return undefined;
  return parent.nest({ id, operation: toObservedTool(entry), values: toWorkValues(entry, args) }, call.caller);
}

/** A question to the client, as records name it. */
export type ObservedQuestion = Pick<QuestionAsked, "id" | "kind" | "isConfirmation" | "decidedOn">;

/** Records that the client is asked. */
export function noteAsked({ observed }: CallContext, question: ObservedQuestion): void {
  observed?.note({ type: "question-asked", ...question });
}

/** Records the answer of the client; `undefined` for no answer. */
export function noteAnswered(
  { observed }: CallContext,
  question: ObservedQuestion,
  answer: JsonObject | undefined,
): void {
  const action = answer?.["action"] ?? "accept";
  const known = action === "accept" || action === "decline" || action === "cancel" ? action : "failed";
  observed?.note({ type: "question-answered", ...question, answer: answer === undefined ? "failed" : known });
}

/** Records the end of a nested call. */
export function endNested(work: ObservedWork, outcome: ToolOutcome, call: CallContext): void {
  work.end(toCallOutcome(outcome, call), () => readResult(outcome));
}

function toCallOutcome(outcome: ToolOutcome, call: CallContext): WorkOutcome {
  if (outcome.kind === "denied")
    return { outcome: "refused", refusedAt: outcome.scopes === undefined ? "name" : "scope" };
  if (outcome.kind === "refused") return toOutcome(outcome, call);
  if (outcome.kind === "asking") return { outcome: "asked" };
  const bytesOut = Buffer.byteLength(outcome.kind === "answer" ? outcome.text : outcome.blocks);
  return { outcome: outcome.isError === true ? "failed" : "ok", bytesOut };
}

function readResult(outcome: ToolOutcome): JsonValue | undefined {
  if (outcome.kind !== "answer" && (outcome.kind !== "rich" || outcome.structured === undefined)) return undefined;
  const text = toResultText(outcome);
  // The invoker wrote it.
  return typeof text === "string" ? (JSON.parse(text) as JsonValue) : undefined;
}
