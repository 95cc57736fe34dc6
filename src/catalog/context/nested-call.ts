import { Refusal, SurfaceError, type SurfaceErrorCode } from "../../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import { operationNotFound, toResultText, type Refused, type ToolOutcome } from "../outcome.ts";
import { toClientCannot, sessionOverOf, toUnanswered, toUnreached } from "../own-refusals.ts";
import type { EntryCall } from "../entry.ts";
import type { NestedCallOptions } from "./tool-context.ts";

/** Calls another tool from within a call, by its id or its name on the wire. */
export type NestedCaller = (id: string, input?: JsonObject, options?: NestedCallOptions) => Promise<JsonValue>;

/** The codes of `SurfaceError`s. A refusal with another code stays a `Refusal`. */
const ownCodes: ReadonlySet<string> = new Set<SurfaceErrorCode>([
  "VALIDATION_ERROR",
  "INVALID_OUTPUT",
  "UNSERIALISABLE",
  "TIMEOUT",
  "ABORTED",
  "OVERFLOW",
  "UNAVAILABLE",
  "DISCONNECTED",
  "OUTCOME_UNKNOWN",
  "CONTRACT_MISMATCH",
  "PROTOCOL_MISMATCH",
  "FRAME_TOO_LARGE",
  "DROPPED",
  "INPUT_REQUIRED",
  "CLOSED",
  "INTERNAL",
]);

function isOwnCode(code: string): code is SurfaceErrorCode {
  return ownCodes.has(code);
}

function ignore(): void {}

function toError(refused: Refused): Refusal | SurfaceError {
  const { code, message, issues, details, correlationId, requiredCapabilities, unanswered } = refused;
  if (requiredCapabilities !== undefined) return toClientCannot(requiredCapabilities);
  if (code === operationNotFound.code) return toUnreached(refused);
  if (!isOwnCode(code)) return new Refusal(code, message, details);
  const over = sessionOverOf(code, message);
  if (over !== undefined) return over;
  if (unanswered !== undefined) return toUnanswered(unanswered);
  return new SurfaceError(code, message, { issues, ...(correlationId === undefined ? {} : { correlationId }) });
}

function answerOf(outcome: ToolOutcome): JsonValue {
  const result = toResultText(outcome);
  if (typeof result !== "string") throw toError(result);
  // The invoker has written this JSON.
  return JSON.parse(result) as JsonValue;
}

/** Returns a copy, which the handler cannot change afterwards. */
function toArguments(id: string, input: unknown): JsonObject {
  const json: unknown = JSON.parse(anyCodec.stringify(input));
  if (isJsonObject(json)) return json;
  throw new SurfaceError("VALIDATION_ERROR", `Calling "${id}": its arguments must be an object`);
}

function toOptions(id: string, options: NestedCallOptions | null): NestedCallOptions {
  if (typeof options === "object" && options !== null) return options;
  throw new SurfaceError("INVALID_OPTION", `Calling "${id}": its options must be an object`);
}

/** Creates `context.call` of a handler. A handler that rethrows `OPERATION_NOT_FOUND` fails with `INTERNAL`. */
export function createNestedCall(call: EntryCall): NestedCaller {
  const run: NestedCaller = async (id, input = {}, options = {}) => {
    const { timeoutMs, onAbort, onProgress } = toOptions(id, options);
    const deadlineAt = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
    const args = toArguments(id, input);
    const countsQuestions = timeoutMs !== undefined;
    const terms = { deadlineAt, countsQuestions, onAbort, onProgress };
    return answerOf(await call.nest({ target: { id }, args, as: "tool", ...terms }));
  };
  return (id, input, options) => {
    const answer = run(id, input, options);
    // A handler need not await the call: an unhandled rejection would end the process.
    answer.catch(ignore);
    return answer;
  };
}
