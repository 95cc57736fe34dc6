import type { InferOutput, Schema } from "../../schema/standard.ts";
import type { CallOptions, ProcedureClient } from "../client.ts";
import { markDerived } from "../implementation.ts";
import type { HandlerContext, ProcedureContext } from "../owner/handler-context.ts";
import { mayRepeat } from "../owner/procedure-owner.ts";
import { relay, relaySteps } from "../relayed.ts";
import { assertFunctions, type UpstreamInput } from "./upstream.ts";

type UpstreamProgress<TProgress> = TProgress extends Schema ? InferOutput<TProgress> : unknown;

/** Options of `derive.procedure()`. */
export interface DeriveProcedureOptions<TInput, TOutput, TGiven, TOut> {
  /** Converts its input into the one of upstream. @default the input as it is */
  readonly input?: (input: TGiven) => UpstreamInput<TInput>;
  /** Converts the result of upstream into its own. @default the result as it is */
  readonly output?: (output: TOutput) => TOut;
}

interface AnyProcedure {
  call(input: unknown, options: CallOptions): Promise<unknown>;
}

interface DerivedProcedure {
  readonly upstream: AnyProcedure;
  readonly options: {
    readonly input?: (input: unknown) => unknown;
    readonly output?: (output: unknown) => unknown;
  };
}

/** Runs a mapping function of the author, which may call upstream too: the failure of such a call is not the failure of this one. */
async function map(by: (value: unknown) => unknown, value: unknown, context: HandlerContext): Promise<unknown> {
  try {
    return await by(value);
  } catch (cause) {
    throw mayRepeat(context) ? cause : relaySteps(cause);
  }
}

async function pass(
  { upstream, options }: DerivedProcedure,
  given: unknown,
  context: ProcedureContext,
): Promise<unknown> {
  const { input, output } = options;
  const wanted = input === undefined ? given : await map(input, given, context);
  let answer: unknown;
  try {
    answer = await upstream.call(wanted, {
      signal: context.signal,
      caller: context.caller,
      trace: context.trace,
      onProgress: context.progress,
      // A call that may be repeated here may be repeated upstream. Otherwise the tag of the upstream member decides.
      ...(mayRepeat(context) ? { idempotent: true } : {}),
    });
  } catch (cause) {
    throw relay(cause, {
      tellsIssues: input === undefined,
      disconnected: mayRepeat(context) ? "UNAVAILABLE" : "OUTCOME_UNKNOWN",
    });
  }
  return output === undefined ? answer : map(output, answer, context);
}

/**
 * Passes on a procedure of another surface: its caller, trace, signal, progress, result and refusals. Errors about the state of the call keep
 * their code, and so do the issues of an unchanged input. A call that loses its connection is sent again only if it is tagged `readOnly()`
 * here or there. If your own handler calls the returned one, a failure leaves the outcome of the whole unknown, unless the member is tagged
 * `readOnly()`.
 *
 * @example
 * ```ts
 * derive.procedure(client["node.rerun"]);
 * ```
 */
export function deriveProcedure<$Input, $Output, $Progress, $Given = UpstreamInput<$Input>, $Out = $Output>(
  upstream: ProcedureClient<$Input, $Output, $Progress>,
  options?: DeriveProcedureOptions<$Input, $Output, $Given, $Out>,
): (input: NoInfer<$Given>, context: ProcedureContext<UpstreamProgress<$Progress>>) => Promise<NoInfer<$Out>>;
export function deriveProcedure(
  upstream: ProcedureClient<undefined, unknown, undefined>,
  options: DeriveProcedureOptions<undefined, never, never, unknown> = {},
): (input: unknown, context: ProcedureContext) => Promise<unknown> {
  assertFunctions(options, ["input", "output"], "Deriving a procedure");
  // By the overload, these take the values of this upstream and of its callers.
  const derived = { upstream, options } as unknown as DerivedProcedure;
  return markDerived((input, context) => pass(derived, input, context));
}
