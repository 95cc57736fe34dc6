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
import type { AgentCall, AgentContext, AgentStep } from "./agent-context.ts";
import { AgentRun, type RunDeps } from "./agent-run.ts";
import { runSteps, stepsOf } from "./run-steps.ts";

/** Any output but steps, now or later: beside `unknown`, what is yielded would be anything too. */
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

/** What an agent answers: its output, now or later, or the steps that come to it. */
export type AgentAnswer<TOutput> =
  | (unknown extends OperationAnswer<TOutput> ? AnyOutput : OperationAnswer<TOutput>)
  | AsyncGenerator<AgentStep, OperationAnswer<TOutput>>;

/** An agent: what it takes, what it answers, and how it comes to that. */
export interface AgentDefinition<TInput extends MountedSchema, TOutput extends MountedSchema, TContext> extends Omit<
  MountedOperation,
  "type" | "inputSchema" | "outputSchema"
> {
  /** The schema of what it takes: an object. Default: nothing. */
  readonly input?: TInput;
  /** The schema of what it answers; checked. Default: any JSON, unchecked. */
  readonly output?: TOutput;
  /** Does a run change anything? Default `true`. */
  readonly mutates?: boolean;
  /**
   * Makes what one run has of its own. What says how it is put away, by `Symbol.asyncDispose` or `Symbol.dispose`, is put away when
   * the run has ended. Default: memory, made anew for each run.
   */
  readonly context?: (call: AgentCall) => TContext;
  /** Receives what no caller is told: steps that are none, and what goes wrong while a run is ended. Default: the console's error stream. */
  readonly onFault?: FaultReporter;
  /**
   * Runs it: a generator that yields steps and returns the output, or a function that returns it. When the call ends early its
   * signal fires and the generator is returned. Where it asks a client from 2026-07-28 on, it runs again from its beginning.
   */
  readonly run: (input: OperationInput<TInput>, context: AgentContext<TContext>) => AgentAnswer<TOutput>;
}

/** The same, without its types. */
interface AnyAgent {
  readonly setting: Omit<RunDeps, "runId">;
  readonly run: (input: unknown, context: AgentContext<unknown>) => unknown;
}

function startRun({ setting, run }: AnyAgent, input: unknown, call: MountContext): Promise<unknown> {
  const started = new AgentRun(call, { ...setting, runId: call.runId ?? randomUUID() });
  const { where, report } = setting;
  return started.during(async () => {
    const answer: unknown = await run(input, started);
    const steps = stepsOf(answer);
    if (steps === undefined) return answer;
    return runSteps(steps, {
      signal: call.signal,
      tell: (step) => started.tell(step),
      fail: (cause) => void internalError(cause, `ending ${where}`, report),
    });
  });
}

/**
 * Makes an agent mountable: one operation, whose steps its callers are told of as progress. Each run has a `runId`, which its
 * answer's `_meta` names under `surface-mcp/runId`, and shares nothing with another. Nothing to close.
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
// Apart, so that nobody's handler may say that it has another context where nobody makes one.
export function agent<$Input extends MountedSchema = never, $Output extends MountedSchema = never>(
  definition: AgentDefinition<$Input, $Output, MemoryContext>,
): MountSource;
// Apart, since beside an answer that nobody has typed, steps would be anything too.
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
  const { input, output, mutates, context, onFault, run, ...words } = definition;
  const where = `agent "${words.name}"`;
  for (const [name, given] of Object.entries({ run, context, onFault })) {
    if (typeof given === "function" || (given === undefined && name !== "run")) continue;
    throw new SurfaceError(
      name === "run" ? "MISSING_HANDLER" : "INVALID_OPTION",
      `Making ${where}: its ${name} must be a function`,
    );
  }
  const setting = { where, report: toSafeReporter(onFault ?? reportToConsole), make: context };
  // Its types were held together above, and the face validates its input.
  const untyped = { setting, run: run.bind(definition) as AnyAgent["run"] };
  const operation: MountedOperation = {
    ...words,
    type: mutates === false ? "query" : "mutation",
    ...(input === undefined ? {} : { inputSchema: input }),
    ...(output === undefined ? {} : { outputSchema: output }),
  };
  return operationRegistry([[operation, (value: unknown, call) => startRun(untyped, value, call)]]);
}

/**
 * Makes one source of several agents, to be mounted together. Nothing to close.
 *
 * @throws SurfaceError `NAME_COLLISION` where two of them have one name, also on the wire.
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
