import type { Refused } from "../catalog/outcome.ts";
import { SurfaceError } from "../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../schema/json.ts";
import { misfit, ownArgument, rejectUnknown } from "./read-argument.ts";
import type { BatchCall } from "./run-batch.ts";

/** How many calls a batch may have. */
export const maxCalls = 50;

const known = ["tool", "input"];

function readCall(call: JsonValue, path: string): BatchCall {
  if (!isJsonObject(call)) throw misfit(path, "expected { tool, input? }, an object");
  rejectUnknown(call, known, [path]);
  const tool = ownArgument(call, "tool");
  if (typeof tool !== "string") throw misfit(`${path}.tool`, "expected the id of an operation, a string");
  const given = ownArgument(call, "input");
  if (given === undefined) return { tool, input: {} };
  if (!isJsonObject(given)) throw misfit(`${path}.input`, "expected the operation's input, an object");
  return { tool, input: given };
}

/** One that is none fails alone, and says what it lacks: what the others do is the same whatever stands beside them. */
function readAlone(call: JsonValue, index: number): BatchCall | Refused {
  try {
    return readCall(call, `calls.${index}`);
  } catch (cause) {
    if (!(cause instanceof SurfaceError)) throw cause;
    const { code, issues } = cause;
    const message = "the arguments do not fit";
    return { kind: "refused", code, message, issues, details: undefined, correlationId: undefined };
  }
}

/**
 * The calls of a batch, each in its place; where one does not fit, what is to be answered of it.
 *
 * @throws SurfaceError `VALIDATION_ERROR`, for what is no list of 1 to 50, whatever is in it.
 */
export function readCalls(args: JsonObject): readonly (BatchCall | Refused)[] {
  const calls = ownArgument(args, "calls");
  if (!Array.isArray(calls) || calls.length === 0 || calls.length > maxCalls) {
    throw misfit("calls", `expected a list of 1 to ${maxCalls} calls`);
  }
  return calls.map(readAlone);
}
