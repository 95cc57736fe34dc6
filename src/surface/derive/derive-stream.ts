import { assertFunctions } from "./assert-functions.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import type { InferInput, Schema } from "../../schema/standard.ts";
import type { StreamClient } from "../client.ts";
import type { HandlerContext } from "../owner/handler-context.ts";
import { relay } from "../relayed.ts";
import { createGone } from "./gathering.ts";
import { upstreamSteps } from "./upstream-steps.ts";

/** What an upstream takes as its input. */
export type UpstreamInput<TInput> = TInput extends Schema ? InferInput<TInput> : undefined;

/** How upstream came to give no more frames. */
export interface LostStream {
  /**
   * What it failed with; `ABSENT` where it ended without a frame. To throw it is to fail as upstream did: what may not be
   * told of it is masked.
   */
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

/** A stream's client without its types: what is open takes an input, whatever that is. */
interface AnyStream {
  open(input: unknown, options: { readonly signal: AbortSignal }): AsyncIterable<unknown>;
}

interface AnyOptions {
  readonly input?: (input: unknown) => unknown;
  readonly filter?: (frame: unknown, input: unknown) => boolean;
  readonly otherwise?: (input: unknown, lost: LostStream, context: HandlerContext) => AsyncIterable<unknown>;
}

interface Derived {
  readonly upstream: AnyStream;
  readonly map: (frame: unknown, input: unknown) => unknown;
  readonly options: AnyOptions;
}

/** What a stream failed with, as far as it may be looked at. What is no error of this package is nobody's to read. */
function toLost(failure: unknown): SurfaceError | Refusal {
  if (failure instanceof Refusal || failure instanceof SurfaceError) return failure;
  return new SurfaceError("INTERNAL", "Following a stream: it failed", { cause: failure });
}

function createAbsent(): SurfaceError {
  return new SurfaceError("ABSENT", "Following a stream: it ended without a frame");
}

/** What one reader has had, and what ended it. */
interface Tally {
  seen: number;
  told: number;
  failure?: { readonly cause: unknown };
}

const same = (value: unknown): unknown => value;

/**
 * Whether upstream has ended for good, and its stream with it: in this process that is an end as any other, where a
 * connection would have been lost. Nothing is opened that nobody iterates over.
 */
function isGone(upstream: AnyStream, wanted: unknown, signal: AbortSignal): boolean {
  try {
    upstream.open(wanted, { signal });
    return false;
  } catch {
    return true;
  }
}

/** The frames of upstream until it ends; what it fails with goes to the tally. */
async function* framesOf(
  { upstream, map, options }: Derived,
  tally: Tally,
  { given, signal }: { readonly given: unknown; readonly signal: AbortSignal },
): AsyncGenerator {
  const { input = same, filter } = options;
  const wanted = input(given);
  for await (const step of upstreamSteps(() => upstream.open(wanted, { signal }))) {
    if ("failure" in step) {
      tally.failure = { cause: relay(step.failure, { tellsIssues: input === same }) };
      return;
    }
    tally.seen += 1;
    if (filter?.(step.value, given) === false) continue;
    const frame = map(step.value, given);
    tally.told += 1;
    yield frame;
  }
  if (isGone(upstream, wanted, signal)) tally.failure = { cause: createGone() };
}

async function* follow(derived: Derived, given: unknown, context: HandlerContext): AsyncGenerator {
  const { otherwise } = derived.options;
  const { signal } = context;
  const tally: Tally = { seen: 0, told: 0 };
  yield* framesOf(derived, tally, { given, signal });
  const { failure, told } = tally;
  if (signal.aborted) return;
  if (otherwise === undefined) {
    if (failure !== undefined) throw failure.cause;
  } else if (failure !== undefined) yield* otherwise(given, { cause: toLost(failure.cause), told }, context);
  else if (tally.seen === 0) yield* otherwise(given, { cause: createAbsent(), told }, context);
}

/**
 * Derives a stream from one of another surface, frame by frame: each reader has an iteration of upstream of its own, which
 * ends with it. It fails as upstream does, unless `otherwise` says where further frames come from. It fails with
 * `UNAVAILABLE` where upstream is lost or closed; over `inProcess()` alone a stream of what closes ends, and so does it.
 *
 * @example
 * ```ts
 * derive.stream(client.log, (chunk) => chunk.text, { otherwise: ({ node }) => readLines(node) });
 * ```
 */
export function deriveStream<$Input, $Frame, $Out, $Given = UpstreamInput<$Input>>(
  upstream: StreamClient<$Input, $Frame>,
  map: (frame: $Frame, input: $Given) => $Out,
  options?: DeriveStreamOptions<$Input, $Frame, $Given, $Out>,
): (input: NoInfer<$Given>, context: HandlerContext) => AsyncIterable<$Out>;
export function deriveStream(
  upstream: StreamClient<undefined, unknown>,
  map: (frame: never, input: never) => unknown,
  options: DeriveStreamOptions<undefined, never, never, unknown> = {},
): (input: unknown, context: HandlerContext) => AsyncIterable<unknown> {
  assertFunctions(options, { doing: "Deriving a stream", names: ["input", "filter", "otherwise"] });
  // The overload says that these take what this upstream and its readers give.
  const derived = { upstream, map, options } as unknown as Derived;
  return (input, context) => follow(derived, input, context);
}
