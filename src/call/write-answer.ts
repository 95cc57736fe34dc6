import { isContent, kContent } from "../catalog/content.ts";
import type { ToolEntry, ToolOutput } from "../catalog/entry.ts";
import type { ToolOutcome } from "../catalog/outcome.ts";
import { richContent, type RichContent } from "../catalog/rich-content.ts";
import { checkOutput } from "../surface/check-value.ts";
import type { FaultReporter } from "../surface/fault.ts";
import type { CallContext } from "./call-context.ts";

/** The content blocks of an answer, and its value for programs. */
interface Made {
  readonly blocks: readonly object[];
  readonly structured: unknown;
  readonly isError?: boolean | undefined;
}

function toRich(output: ToolOutput, { blocks, isError }: Omit<Made, "structured">, structured: unknown): ToolOutcome {
  const hasValue = structured !== undefined || (output.json !== undefined && isError !== true);
  return {
    kind: "rich",
    // A copy, because a `toJSON` of the list could write anything.
    blocks: JSON.stringify([...blocks]),
    structured: hasValue ? output.stringify(structured) : undefined,
    ...(isError === true ? { isError } : {}),
  };
}

function write({ output, origin }: ToolEntry, answer: unknown, report: FaultReporter): ToolOutcome {
  if (output.rich !== "always") {
    const text = output.stringify(answer);
    if (output.isError?.(answer) === true) return { kind: "answer", text, isError: true };
    return typeof answer === "string" ? { kind: "answer", text, plain: answer } : { kind: "answer", text };
  }
  // It may come from another process, so it is validated again. That schema is synchronous.
  const made = checkOutput(richContent, answer, { where: origin, report }) as RichContent & Made;
  return toRich(output, made, made.structured);
}

/**
 * Writes the answer of a tool, validated if the face owns its schema. Returns a promise only if the schema is asynchronous.
 *
 * @throws SurfaceError `INVALID_OUTPUT`, `UNSERIALISABLE` or `INTERNAL`.
 */
export function writeAnswer(
  entry: ToolEntry,
  answer: unknown,
  { call, report }: { readonly call: CallContext; readonly report: FaultReporter },
): ToolOutcome | Promise<ToolOutcome> {
  const { owner, output } = entry;
  const made = output.rich === "may" && isContent(answer) ? answer[kContent] : undefined;
  // The value beside blocks is validated like a plain answer, also if it is left out.
  const given: unknown = made === undefined ? answer : made.structured;
  // A failure without a value has none that would fit.
  const isFailure = made?.isError === true && given === undefined;
  const value =
    owner === "surface" || isFailure ? given : checkOutput(owner.output, given, { where: entry.origin, report });
  if (!(value instanceof Promise))
    return made === undefined ? write(entry, value, report) : toRich(output, made, value);
  const late = call.outcome(value);
  return late.then((structured) =>
    made === undefined ? write(entry, structured, report) : toRich(output, made, structured),
  );
}
