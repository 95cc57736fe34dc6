import { isContent, kContent, type Content } from "../catalog/content.ts";
import type { ToolEntry, ToolOutput } from "../catalog/entry.ts";
import type { ToolOutcome } from "../catalog/outcome.ts";
import { richContent, type RichContent } from "../catalog/rich-content.ts";
import { checkOutput } from "../surface/check-value.ts";
import type { FaultReporter } from "../surface/fault.ts";
import type { CallContext } from "./call-context.ts";

/** For what an answer is written. */
export interface Answering {
  readonly call: CallContext;
  readonly report: FaultReporter;
}

interface Made {
  readonly blocks: readonly object[];
  readonly structured: unknown;
  readonly isError?: boolean | undefined;
}

function isRich({ output }: ToolEntry, value: unknown): value is Content {
  return output.rich === "may" && isContent(value);
}

/** What blocks and what is said to programs beside them come to. */
function toRich(output: ToolOutput, { blocks, structured, isError }: Made): ToolOutcome {
  const isSaid = structured !== undefined || (output.json !== undefined && isError !== true);
  return {
    kind: "rich",
    // A list of our own: one that says of itself how it is written may be written as anything.
    blocks: JSON.stringify([...blocks]),
    structured: isSaid ? output.stringify(structured) : undefined,
    ...(isError === true ? { isError } : {}),
  };
}

function write({ output, origin }: ToolEntry, answer: unknown, report: FaultReporter): ToolOutcome {
  if (output.rich !== "always") {
    const text = output.stringify(answer);
    if (output.isError?.(answer) === true) return { kind: "answer", text, isError: true };
    return typeof answer === "string" ? { kind: "answer", text, plain: answer } : { kind: "answer", text };
  }
  // It may come from another process: what is in it is looked at again. That schema answers at once.
  return toRich(output, checkOutput(richContent, answer, { where: origin, report }) as RichContent & Made);
}

/** What was answered: blocks, where its author made any, and what is said to programs, checked. */
interface Checked {
  readonly made: Made | undefined;
  readonly said: unknown;
}

function finish(entry: ToolEntry, { made, said }: Checked, report: FaultReporter): ToolOutcome {
  return made === undefined
    ? write(entry, said, report)
    : toRich(entry.output, { blocks: made.blocks, structured: said, isError: made.isError });
}

/**
 * What a tool answered -> what its caller is given: checked, where the face owns its schema, and written; later only where the
 * schema takes its time.
 *
 * @throws SurfaceError `INVALID_OUTPUT`, `UNSERIALISABLE` or `INTERNAL`.
 */
export function writeAnswer(
  entry: ToolEntry,
  value: unknown,
  { call, report }: Answering,
): ToolOutcome | Promise<ToolOutcome> {
  const { owner } = entry;
  const made = isRich(entry, value) ? value[kContent] : undefined;
  // What is said to programs is checked as a plain answer is: one that says nothing to them has to be allowed to.
  const said: unknown = made === undefined ? value : made.structured;
  // What has failed has nothing to say to them that would fit.
  const isFailure = made?.isError === true && said === undefined;
  if (owner === "surface" || isFailure) return finish(entry, { made, said }, report);
  const checked = checkOutput(owner.output, said, { where: entry.origin, report });
  if (!(checked instanceof Promise)) return finish(entry, { made, said: checked }, report);
  return call.outcome(checked).then((late) => finish(entry, { made, said: late }, report));
}
