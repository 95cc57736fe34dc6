import type { Refusal, SurfaceError } from "../../errors.ts";
import type { InferInput, Schema } from "../../schema/standard.ts";
import type { StreamClient } from "../client.ts";
import type { HandlerContext } from "../owner/owned-use.ts";

/** What an upstream takes as its input. */
export type UpstreamInput<TInput> = TInput extends Schema ? InferInput<TInput> : undefined;

/** How upstream came to give no more frames. */
export interface LostStream {
  /** What it failed with; `ABSENT` where it ended without a frame. */
  readonly cause: SurfaceError | Refusal;
  /** How many frames the reader has had by then. */
  readonly told: number;
}

/** What a derived stream may be told. */
export interface DeriveStreamOptions<TInput, TFrame, TGiven, TOut> {
  /** Turns its input into upstream's. Default: the input as it is. */
  readonly input?: (input: TGiven) => UpstreamInput<TInput>;
  /** A frame that does not pass is left out. */
  readonly filter?: (frame: TFrame, input: TGiven) => boolean;
  /** Where the frames come from once upstream has failed, or has ended without one. Default: it fails as upstream did. */
  readonly otherwise?: (input: TGiven, lost: LostStream, context: HandlerContext) => AsyncIterable<TOut>;
}

/** Derives a stream from one of another surface, frame by frame, for each reader. */
export function deriveStream<$Input, $Frame, $Out, $Given = UpstreamInput<$Input>>(
  upstream: StreamClient<$Input, $Frame>,
  map: (frame: $Frame, input: $Given) => $Out,
  options?: DeriveStreamOptions<$Input, $Frame, $Given, $Out>,
): (input: $Given, context: HandlerContext) => AsyncIterable<$Out>;
export function deriveStream(): (input: unknown, context: HandlerContext) => AsyncIterable<unknown> {
  throw new Error("not yet");
}
