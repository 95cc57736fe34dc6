import { isRecord } from "../../options/is-object.ts";
import { callable, flag, option, required, type Option, type OptionFields } from "../../options/option.ts";
import { readOptions } from "../../options/read-options.ts";
import {
  isSchema,
  describeInvalidSchema,
  type InferInput,
  type InferOutput,
  type Schema,
} from "../../schema/standard.ts";
import type { MaybeSchema } from "../../surface/member.ts";
import { freezeDisplayMetadata } from "../../tags/display-metadata.ts";
import { assertNoContradiction, toolFields } from "../../tags/read-tag-options.ts";
import { scopeList } from "../../tags/scopes.ts";
import { defaultOnDisconnect, defaultTimeoutMs, type Confirm, type ToolOptions } from "../../tags/tool-options.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import type { Content } from "../content/content.ts";
import type { MemoryContext } from "../context/memory-context.ts";
import { runInContext, type BespokeSource, type ToolContext } from "../context/tool-context.ts";
import type { ToolEntry } from "../entry.ts";
import { assertResourceArgument, toGuard } from "../entry-scopes.ts";
import { maxPatternLength, maxPatterns } from "../glob.ts";
import { confirmFields, freezeNesting, toToolHints, type NestingOptions } from "../tool-head.ts";
import { toToolInput, toToolOutput } from "../tool-schemas.ts";
import { toWireName } from "../wire-name.ts";

/** The options of every hand-written tool, apart from its input. */
export interface BespokeToolOptions extends ToolOptions, NestingOptions {
  /**
   * The schema of the result, which is validated. `richContent` for a tool that passes on content blocks of a procedure.
   * @default any JSON, not validated
   */
  readonly output?: Schema;
  /** Keeps `-` in the name. Some hosts rewrite it. @default false: a name with a dash is refused */
  readonly allowDash?: boolean;
}

/** The output of an input schema; `undefined` without one. Inference may add `undefined` to an optional field. */
export type BespokeArguments<TInput> = [Extract<TInput, Schema>] extends [never]
  ? undefined
  : InferOutput<Extract<TInput, Schema>>;

// The compiler infers the result of a handler without parameters before it knows the output schema: `"idle"` becomes `string`,
// `["a", 1]` becomes `(string | number)[]`. So it checks the shape alone. Literals, the lengths of tuples and levels below
// `WidenedLevels` are validated at run time, as everything is.
/** The values that a handler may return: the input of its output schema, or content; unchecked without a schema. */
export type BespokeAnswer<TOutput> = [Extract<TOutput, Schema>] extends [never]
  ? unknown
  : BespokeResult<InferInput<Extract<TOutput, Schema>> | Widened<InferInput<Extract<TOutput, Schema>>>>;

/** A value or content blocks, returned directly or by a promise. */
type BespokeResult<TValue> = TValue | Content | PromiseLike<TValue | Content>;

/** One element for each level of nesting that the compiler checks. Without an end, a recursive output such as `z.json()` has none. */
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

/** The output schema, or a problem for another value; `unknown` for an unchecked one. */
type OutputOrProblem<TOutput> = unknown extends TOutput
  ? unknown
  : [TOutput] extends [MaybeSchema]
    ? TOutput
    : TypeProblem<"the output must be a Standard Schema, such as z.object({ … })">;

/** A tool that is not a member: an input and a handler. */
export interface BespokeTool<TInput, TSpec, TContext = MemoryContext, TOutput = unknown, TReach = unknown> extends Omit<
  BespokeToolOptions,
  "output" | "confirm"
> {
  /** The schema of the arguments. @default no arguments */
  readonly input?: TInput;
  /**
   * The schema of the result, which is validated. `richContent` for a tool that passes on content blocks of a procedure.
   * @default any JSON, not validated
   */
  readonly output?: OutputOrProblem<TOutput>;
  /** Asks the user before each call; as the option of this name of all tools, with typed arguments and client. */
  readonly confirm?: Confirm<BespokeArguments<TInput>, TSpec>;
  handler(args: BespokeArguments<TInput>, context: ToolContext<TSpec, TContext, TReach>): BespokeAnswer<TOutput>;
}

/** A hand-written tool, without the types of its schemas. */
export interface AnyBespokeTool extends BespokeToolOptions {
  readonly input?: MaybeSchema;
  handler(args: unknown, context: ToolContext<unknown, unknown>): unknown;
}

/** A Standard Schema. */
export const standardSchema: Option = {
  problem: (value, path) => (isSchema(value) ? undefined : `its "${path}": ${describeInvalidSchema(value)}`),
};

/** The function that an entry must have. */
export const handler: Option = { ...required(callable), code: "MISSING_HANDLER" };

/** Patterns of the entries that a handler may call. */
export const canCall: Option = option(
  `a list of at most ${maxPatterns} patterns, each 1 to ${maxPatternLength} characters`,
  (value) => Array.isArray(value) && value.length <= maxPatterns && Array.from<unknown>(value).every(isPattern),
);

function isPattern(pattern: unknown): boolean {
  return typeof pattern === "string" && pattern !== "" && pattern.length <= maxPatternLength;
}

/**
 * Reads a hand-written entry. Its functions are called on the entry itself, which may be an instance of a class.
 *
 * @param doing - the start of messages: `Cannot add tool "run"`.
 * @throws SurfaceError `INVALID_OPTION`, `MISSING_HANDLER`.
 */
export function readEntry<TEntry extends object>(given: unknown, fields: OptionFields<TEntry>, doing: string): TEntry {
  // Every field is checked, and a value without any lacks a handler.
  return readOptions((isRecord(given) ? given : {}) as TEntry, fields, doing);
}

const toolOptionFields: OptionFields<AnyBespokeTool> = {
  handler,
  input: standardSchema,
  output: standardSchema,
  ...toolFields,
  allowDash: flag,
  canCall,
  callScopes: scopeList,
};

/** Checks a hand-written tool. The compiler does so too. @throws SurfaceError `INVALID_OPTION`, `MISSING_HANDLER`, `CONTRADICTION`. */
export function readBespokeTool(name: string, tool: unknown): AnyBespokeTool {
  const doing = `Cannot add tool "${name}"`;
  return assertNoContradiction(readEntry(tool, toolOptionFields, doing), doing);
}

/** Creates the entry of a hand-written tool. The call validates its input and output. @throws SurfaceError with a boot code. */
export function toBespokeEntry(name: string, tool: AnyBespokeTool, source: BespokeSource): ToolEntry {
  const { scopes } = source;
  const origin = `tool "${name}"`;
  const options = readBespokeTool(name, tool);
  const hints = toToolHints("unstated", options);
  const guard = toGuard(hints.readOnlyHint ? scopes.read : scopes.write, options);
  const input = toToolInput(tool.input, origin);
  assertResourceArgument(guard, input, origin);
  return {
    id: name,
    name: toWireName(name, { origin, allowDash: tool.allowDash ?? false }),
    origin,
    title: options.title,
    description: options.description,
    ...freezeDisplayMetadata(options),
    hints,
    ...guard,
    ...freezeNesting(tool, hints.readOnlyHint ? [scopes.read] : [scopes.read, scopes.write]),
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
