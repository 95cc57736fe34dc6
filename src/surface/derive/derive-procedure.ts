import type { InferOutput, Schema } from "../../schema/standard.ts";
import type { ProcedureClient } from "../client.ts";
import type { HandlerContext } from "../owner/owned-use.ts";
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

/** Passes a procedure of another surface on. */
export function deriveProcedure<$Input, $Output, $Progress, $Given = UpstreamInput<$Input>, $Out = $Output>(
  upstream: ProcedureClient<$Input, $Output, $Progress>,
  options?: DeriveProcedureOptions<$Input, $Output, $Given, $Out>,
): (input: $Given, context: HandlerContext<UpstreamProgress<$Progress>>) => Promise<$Out>;
export function deriveProcedure(): (input: never, context: HandlerContext<never>) => Promise<unknown> {
  throw new Error("not yet");
}
