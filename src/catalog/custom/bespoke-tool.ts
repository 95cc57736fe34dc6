import type { InferInput, InferOutput, Schema } from "../../schema/standard.ts";
import type { MaybeSchema } from "../../surface/member.ts";
import { keepLooks } from "../../tags/looks.ts";
import { defaultOnDisconnect, defaultTimeoutMs, type Confirm, type ToolOptions } from "../../tags/tool-options.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import { flag, type OptionFields } from "../../options/option.ts";
import { assertNoContradiction, toolFields } from "../../tags/read-tag-options.ts";
import { scopeList } from "../../tags/scopes.ts";
import { confirmFields, keepNesting, toToolHints, type NestingWords } from "../tool-head.ts";
import { runInContext, type BespokeSource, type ToolContext } from "../context/tool-context.ts";
import type { Content } from "../content/content.ts";
import { assertThingNamed, toGuard } from "../entry-scopes.ts";
import { handler, reach, readEntry, standardSchema } from "./entry-fields.ts";
import type { ToolEntry } from "../entry.ts";
import type { MemoryContext } from "../context/memory-context.ts";
import { toToolInput, toToolOutput } from "../tool-schemas.ts";
import { toWireName } from "../wire-name.ts";

/** What every bespoke tool says, whatever its input. */
export interface BespokeWords extends ToolOptions, NestingWords {
  /**
   * The schema of the answer; it is validated. `richContent` where it passes on what a procedure answered in blocks. Default:
   * any JSON, unchecked.
   */
  readonly output?: Schema;
  /** Keep `-` in the name. Some hosts rewrite it. Default `false`: a name with a dash is refused. */
  readonly allowDash?: boolean;
}

/** An input schema's output side; `undefined` where there is none. Inference may add `undefined` to an optional field. */
export type BespokeArguments<TInput> = [Extract<TInput, Schema>] extends [never]
  ? undefined
  : InferOutput<Extract<TInput, Schema>>;

// The compiler infers the result of a handler without parameters before it knows the output schema: `"idle"` becomes `string`,
// `["a", 1]` becomes `(string | number)[]`. So it checks the shape alone. Literals, the lengths of tuples and levels below
// `WidenedLevels` are validated at run time, as everything is.
/** The values that a handler may return: the input side of its output schema or content; unchecked without a schema. */
export type BespokeAnswer<TOutput> = [Extract<TOutput, Schema>] extends [never]
  ? unknown
  : BespokeResult<InferInput<Extract<TOutput, Schema>> | Widened<InferInput<Extract<TOutput, Schema>>>>;

/** A value or content blocks, returned directly or by a promise. */
type BespokeResult<TValue> = TValue | Content | PromiseLike<TValue | Content>;

/** One element a level of nesting that the compiler checks. Without an end, a recursive output such as `z.json()` has none. */
type WidenedLevels = [1, 1, 1, 1, 1, 1, 1, 1];

/** A type with its literals as primitives and its arrays and tuples as readonly arrays; `unknown` below `TDepth` levels. */
type Widened<TValue, TDepth extends readonly unknown[] = WidenedLevels> = unknown extends TValue
  ? unknown
  : TValue extends string
    ? string
    : TValue extends number
      ? number
      : TValue extends boolean
        ? boolean
        : TDepth extends readonly [unknown, ...infer Deeper]
          ? TValue extends readonly unknown[]
            ? readonly Widened<TValue[number], Deeper>[]
            : { [Key in keyof TValue]: Widened<TValue[Key], Deeper> }
          : unknown;

/** An output schema as given, or a problem for unchecked else. */
type OutputOrProblem<TOutput> = unknown extends TOutput
  ? unknown
  : [TOutput] extends [MaybeSchema]
    ? TOutput
    : TypeProblem<"the output must be a Standard Schema, such as z.object({ … })">;

/** A tool that is not a member: an input and a function over the live client. */
export interface BespokeTool<TInput, TSpec, TContext = MemoryContext, TOutput = unknown, TReach = unknown> extends Omit<
  BespokeWords,
  "output" | "confirm"
> {
  /** The schema of the arguments. Default: it takes none. */
  readonly input?: TInput;
  /**
   * The schema of the result, which is validated. `richContent` for a tool that passes on content blocks of a procedure.
   * Default: any JSON, unchecked.
   */
  readonly output?: OutputOrProblem<TOutput>;
  /** Asks the user before each call; as the option of this name of all tools, with typed arguments and client. */
  readonly confirm?: Confirm<BespokeArguments<TInput>, TSpec>;
  handler(args: BespokeArguments<TInput>, context: ToolContext<TSpec, TContext, TReach>): BespokeAnswer<TOutput>;
}

/** A bespoke tool as the catalog keeps it. */
export interface AnyBespokeTool extends BespokeWords {
  readonly input?: MaybeSchema;
  handler(args: unknown, context: ToolContext<unknown, unknown>): unknown;
}

const fields: OptionFields<AnyBespokeTool> = {
  handler,
  input: standardSchema,
  output: standardSchema,
  ...toolFields,
  allowDash: flag,
  reach,
  authority: scopeList,
};

/**
 * Reads a bespoke tool that may not have been through the compiler.
 *
 * @throws SurfaceError `INVALID_OPTION`, `MISSING_HANDLER`, `CONTRADICTION`.
 */
export function readBespokeTool(name: string, tool: unknown): AnyBespokeTool {
  const doing = `Adding tool "${name}"`;
  return assertNoContradiction(readEntry(tool, fields, doing), doing);
}

/**
 * Turns a bespoke tool into an entry. Its input and output are validated by the face, which owns it.
 *
 * @throws SurfaceError `INVALID_NAME`, `INVALID_OPTION`, `MISSING_HANDLER` or `SCHEMA_UNSUPPORTED`.
 */
export function toBespokeEntry(name: string, tool: AnyBespokeTool, source: BespokeSource): ToolEntry {
  const { scopes } = source;
  const origin = `tool "${name}"`;
  const options = readBespokeTool(name, tool);
  const hints = toToolHints("unstated", options);
  const guard = toGuard(hints.readOnlyHint ? scopes.read : scopes.write, options);
  const input = toToolInput(tool.input, origin);
  assertThingNamed(guard, input, origin);
  return {
    id: name,
    name: toWireName(name, { origin, allowDash: tool.allowDash ?? false }),
    origin,
    title: options.title,
    description: options.description,
    ...keepLooks(options),
    hints,
    ...guard,
    ...keepNesting(tool, hints.readOnlyHint ? [scopes.read] : [scopes.read, scopes.write]),
    input,
    output: Object.freeze({ rich: "may", ...toToolOutput(tool.output, origin) }),
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    countsQuestions: options.timeoutMs !== undefined,
    onDisconnect: options.onDisconnect ?? defaultOnDisconnect,
    ...confirmFields(options.confirm, source.client, origin),
    owner: { input: tool.input, output: tool.output },
    run: (args, call) => runInContext(call, source, (context) => tool.handler(args, context)),
  };
}
