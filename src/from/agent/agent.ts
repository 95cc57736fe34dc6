import { randomUUID } from "node:crypto";
import type { MemoryContext } from "../../catalog/context/memory-context.ts";
import type { MountContext, MountedOperation, MountedSchema, MountSource } from "../../catalog/mounts/mount.ts";
import {
  operationRegistry,
  type OperationAnswer,
  type OperationInput,
  type RegisteredOperation,
} from "../../catalog/mounts/operation-registry.ts";
import { SurfaceError } from "../../errors.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../../surface/fault.ts";
import { AgentRun, type AgentCall, type AgentContext, type RunDeps } from "./agent-run.ts";
import { runSteps, stepsOf, type AgentStep } from "./run-steps.ts";

/** Any output except a generator of steps. With `unknown`, the type of the yielded steps would be `unknown` too. */
type AnyOutput =
  | string
  | number
  | bigint
  | boolean
  | symbol
  | null
  | undefined
  | void
  | (object & { readonly [Symbol.asyncIterator]?: never });

/** The return value of `run`: the output, a promise of it, or a generator that yields steps and returns it. */
export type AgentAnswer<TOutput> =
  | (unknown extends OperationAnswer<TOutput> ? AnyOutput : OperationAnswer<TOutput>)
  | AsyncGenerator<AgentStep, OperationAnswer<TOutput>>;

/** An agent: its name, schemas and function. */
export interface AgentDefinition<TInput extends MountedSchema, TOutput extends MountedSchema, TContext> extends Omit<
  MountedOperation,
  "type" | "inputSchema" | "outputSchema"
> {
  /** Schema of the input, an object. @default no input */
  readonly input?: TInput;
  /** Schema that the output is validated with. @default any JSON, not validated */
  readonly output?: TOutput;
  /** Whether a run changes anything. @default true */
  readonly mutates?: boolean;
  /**
   * Creates the context of one run. A context with `Symbol.asyncDispose` or `Symbol.dispose` is disposed when the run has ended.
   *
   * @default a new memory context for each run
   */
  readonly context?: (call: AgentCall) => TContext;
  /** Receives faults that no caller sees: invalid steps, and errors while a run is ended. @default `console.error` */
  readonly onFault?: FaultReporter;
  /**
   * Runs the agent: a generator function that yields steps and returns the output, or a function that returns the output. When the
   * call ends early, its signal fires and the generator is returned. After a question to a client from 2026-07-28 on, the function
   * runs again from its beginning.
   */
  readonly run: (input: OperationInput<TInput>, context: AgentContext<TContext>) => AgentAnswer<TOutput>;
}

/** An agent without its types. */
interface AnyAgent {
  readonly deps: Omit<RunDeps, "runId">;
  readonly run: (input: unknown, context: AgentContext<unknown>) => unknown;
}

function startRun({ deps, run }: AnyAgent, input: unknown, call: MountContext): Promise<unknown> {
  const started = new AgentRun(call, { ...deps, runId: call.runId ?? randomUUID() });
  const { where, report } = deps;
  return started.during(async () => {
    const answer: unknown = await run(input, started);
    const steps = stepsOf(answer);
    if (steps === undefined) return answer;
    return runSteps(steps, {
      signal: call.signal,
      report: (step) => started.report(step),
      fail: (cause) => void internalError(cause, `ending ${where}`, report),
    });
  });
}

/**
 * Creates a mount source with one operation, which runs the agent and sends its steps to the caller as progress notifications. Runs
 * share nothing. The result has the id of the run in `_meta`, under `surface-mcp/runId`. Nothing to close.
 *
 * @throws SurfaceError `INVALID_NAME`, `INVALID_OPTION`, `CONTRADICTION`, `MISSING_HANDLER` or `SCHEMA_UNSUPPORTED`.
 * @example
 * ```ts
 * const writer = agent({
 *   name: "write",
 *   input: z.object({ about: z.string() }),
 *   async *run({ about }, { ask }) {
 *     yield { kind: "llm_call_started" };
 *     const draft = await ask.sample("draft", { messages: [{ role: "user", content: about }], maxTokens: 500 });
 *     yield { kind: "llm_call_completed", model: draft.model };
 *     return draft.text;
 *   },
 * });
 * ```
 */
export function agent<
  $Input extends MountedSchema = never,
  $Output extends MountedSchema = never,
  $Context = MemoryContext,
>(definition: AgentDefinition<$Input, $Output, $Context> & { readonly context: unknown }): MountSource;
// A separate overload, so that `run` cannot declare another context without a factory for it.
export function agent<$Input extends MountedSchema = never, $Output extends MountedSchema = never>(
  definition: AgentDefinition<$Input, $Output, MemoryContext>,
): MountSource;
// A separate overload, since an untyped output would make the type of the steps `unknown` too.
export function agent<$Input extends MountedSchema = never, $Answer = unknown>(
  definition: Omit<AgentDefinition<$Input, never, MemoryContext>, "run"> & {
    readonly run: (
      input: OperationInput<$Input>,
      context: AgentContext<MemoryContext>,
    ) => unknown extends $Answer ? $Answer : never;
  },
): MountSource;
export function agent<
  $Input extends MountedSchema = never,
  $Output extends MountedSchema = never,
  $Context = MemoryContext,
>(definition: AgentDefinition<$Input, $Output, $Context>): MountSource {
  const { input, output, mutates, context, onFault, run, ...metadata } = definition;
  const where = `agent "${metadata.name}"`;
  for (const [name, given] of Object.entries({ run, context, onFault })) {
    if (typeof given === "function" || (given === undefined && name !== "run")) continue;
    throw new SurfaceError(
      name === "run" ? "MISSING_HANDLER" : "INVALID_OPTION",
      `Cannot create ${where}: "${name}" must be a function`,
    );
  }
  const deps = { where, report: toSafeReporter(onFault ?? reportToConsole), make: context };
  // The overloads check the types, and the catalog validates the input.
  const untyped = { deps, run: run.bind(definition) as AnyAgent["run"] };
  const operation: MountedOperation = {
    ...metadata,
    type: mutates === false ? "query" : "mutation",
    ...(input === undefined ? {} : { inputSchema: input }),
    ...(output === undefined ? {} : { outputSchema: output }),
  };
  return operationRegistry([[operation, (value: unknown, call) => startRun(untyped, value, call)]]);
}

/**
 * Combines several agents into one mount source. Nothing to close.
 *
 * @throws SurfaceError `NAME_COLLISION` if two agents have the same name, also on the wire.
 */
export function agents(...sources: readonly MountSource[]): MountSource {
  const all = sources.flatMap((source) =>
    source
      .list()
      .map((operation): RegisteredOperation => [
        operation,
        (input: unknown, call) => source.invoke(operation.name, input, call),
      ]),
  );
  return operationRegistry(all);
}
