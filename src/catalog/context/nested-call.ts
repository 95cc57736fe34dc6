import { Refusal, SurfaceError, type SurfaceErrorCode } from "../../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import { operationNotFound, toResultText, type Refused, type ToolOutcome } from "../outcome.ts";
import { toClientCannot, sessionOverOf, toUnanswered, toUnreached } from "../own-refusals.ts";
import type { EntryCall } from "../entry.ts";
import type { NestedCallOptions } from "./tool-context.ts";

/** Calls another tool from within a call, by its id or its name on the wire. */
export type NestedCaller = (id: string, input?: JsonObject, options?: NestedCallOptions) => Promise<JsonValue>;

/** The codes of what the package itself says of a call; those of its own that are not among them an author may refuse with. */
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
  // The text of an answer is JSON: the invoker has written it.
  return JSON.parse(result) as JsonValue;
}

/** A copy, so that what a handler does to its own afterwards is not what is called with. */
function toArguments(id: string, input: unknown): JsonObject {
  const json: unknown = JSON.parse(anyCodec.stringify(input));
  if (isJsonObject(json)) return json;
  throw new SurfaceError("VALIDATION_ERROR", `Calling "${id}": its arguments must be an object`);
}

function toOptions(id: string, options: NestedCallOptions | null): NestedCallOptions {
  if (typeof options === "object" && options !== null) return options;
  throw new SurfaceError("INVALID_OPTION", `Calling "${id}": its options must be an object`);
}

/**
 * What handlers call other tools by: as a part of their own call, within the reach and under the authority that their tool
 * declares. Resolves with what the tool says to programs, or with its content where it says nothing to them. Rejects with a
 * `Refusal` of the tool's own, or of code `OPERATION_NOT_FOUND` or `CALL_DEPTH`; or with a `SurfaceError`, as calls of surfaces
 * do. An `OPERATION_NOT_FOUND` that a handler lets through is its fault, `INTERNAL` to whoever called its tool. Nobody has to
 * wait for it: what then fails is told in the tree of calls alone.
 */
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
    // One that nobody waits for and that is refused would end the process.
    answer.catch(ignore);
    return answer;
  };
}
