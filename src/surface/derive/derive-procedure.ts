import { assertFunctions } from "./assert-functions.ts";
import type { InferOutput, Schema } from "../../schema/standard.ts";
import type { CallOptions, ProcedureClient } from "../client.ts";
import { markDerived } from "../implementation.ts";
import type { HandlerContext, ProcedureContext } from "../owner/handler-context.ts";
import { mayRepeat } from "../owner/procedure-owner.ts";
import { relay, relaySteps } from "../relayed.ts";
import type { UpstreamInput } from "./derive-stream.ts";

/** What upstream reports as progress. */
type UpstreamProgress<TProgress> = TProgress extends Schema ? InferOutput<TProgress> : unknown;

/** What a derived procedure may be told. */
export interface DeriveProcedureOptions<TInput, TOutput, TGiven, TOut> {
  /** Turns its input into upstream's. Default: the input as it is. */
  readonly input?: (input: TGiven) => UpstreamInput<TInput>;
  /** Turns upstream's answer into its own. Default: the answer as it is. */
  readonly output?: (output: TOutput) => TOut;
}

/** A procedure's client without its types. */
interface AnyProcedure {
  call(input: unknown, options: CallOptions): Promise<unknown>;
}

interface Derived {
  readonly upstream: AnyProcedure;
  readonly options: {
    readonly input?: (input: unknown) => unknown;
    readonly output?: (output: unknown) => unknown;
  };
}

/** Maps by the author's code: it may have used upstream on its own, and what that failed with is not this use's failure. */
async function map(by: (value: unknown) => unknown, value: unknown, context: HandlerContext): Promise<unknown> {
  try {
    return await by(value);
  } catch (cause) {
    throw mayRepeat(context) ? cause : relaySteps(cause);
  }
}

async function pass({ upstream, options }: Derived, given: unknown, context: ProcedureContext): Promise<unknown> {
  const { input, output } = options;
  const wanted = input === undefined ? given : await map(input, given, context);
  let answer: unknown;
  try {
    answer = await upstream.call(wanted, {
      signal: context.signal,
      caller: context.caller,
      onProgress: context.progress,
      // Whoever may call this one twice may have upstream called twice. Otherwise upstream's own tag decides.
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
 * Passes a procedure of another surface on: its caller, its signal, its progress and its answer, and what it refuses. What says where
 * things stand crosses as what it is, `UNAVAILABLE` and `OUTCOME_UNKNOWN` among them, and the issues of an input that went
 * up as it was given. It is sent again, where its connection is lost, only if it is tagged `readOnly()` here or there.
 *
 * It is the handler itself. Called from a handler of your own it is one of that one's steps, and what it fails with leaves
 * the outcome of the whole unknown, unless the member is tagged `readOnly()`.
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
  assertFunctions(options, { doing: "Deriving a procedure", names: ["input", "output"] });
  // The overload says that these take what this upstream and its callers give.
  const derived = { upstream, options } as unknown as Derived;
  return markDerived((input, context) => pass(derived, input, context));
}
