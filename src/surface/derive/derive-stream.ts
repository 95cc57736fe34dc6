import { Refusal, SurfaceError } from "../../errors.ts";
import type { StreamClient } from "../client.ts";
import type { HandlerContext } from "../owner/handler-context.ts";
import { assertFunctions, createUpstreamEnded, upstreamSteps, type UpstreamInput } from "./upstream.ts";

/** Reason why upstream gives no more frames. */
export interface LostStream {
  /** Failure of upstream; `ABSENT` if it ended without a frame. Throw it to fail like upstream: its private details are masked. */
  readonly cause: SurfaceError | Refusal;
  /** Number of frames that the reader has received. */
  readonly told: number;
}

/** Options of `derive.stream()`. */
export interface DeriveStreamOptions<TInput, TFrame, TGiven, TOut> {
  /** Converts its input into the one of upstream. @default the input as it is */
  readonly input?: (input: TGiven) => UpstreamInput<TInput>;
  /** Leaves out the frames that it returns `false` for. */
  readonly filter?: (frame: TFrame, input: TGiven) => boolean;
  /** Returns the frames after upstream has failed, or has ended without one. @default the stream fails like upstream */
  readonly otherwise?: (input: TGiven, lost: LostStream, context: HandlerContext) => AsyncIterable<TOut>;
}

interface DerivedStream {
  readonly upstream: {
    open(input: unknown, options: { readonly signal: AbortSignal }): AsyncIterable<unknown>;
  };
  readonly map: (frame: unknown, input: unknown) => unknown;
  readonly options: {
    readonly input?: (input: unknown) => unknown;
    readonly filter?: (frame: unknown, input: unknown) => boolean;
    readonly otherwise?: (input: unknown, lost: LostStream, context: HandlerContext) => AsyncIterable<unknown>;
  };
}

/** Returns the failure if it is an error of this package: only those are for the author to read. */
function toLost(failure: unknown): SurfaceError | Refusal {
  if (failure instanceof Refusal || failure instanceof SurfaceError) return failure;
  return new SurfaceError("INTERNAL", "Cannot follow a stream: it failed", { cause: failure });
}

/** Progress of one reader, and the failure that ended it. */
interface Progress {
  seen: number;
  told: number;
  failure?: { readonly cause: unknown };
}

/** Returns true if upstream is closed, where a stream in this process just ends. Opening it tells, and runs nothing before `next()`. */
function isGone(upstream: DerivedStream["upstream"], wanted: unknown, signal: AbortSignal): boolean {
  try {
    upstream.open(wanted, { signal });
    return false;
  } catch {
    return true;
  }
}

async function* framesOf(
  { upstream, map, options: { input, filter } }: DerivedStream,
  progress: Progress,
  { given, signal }: { readonly given: unknown; readonly signal: AbortSignal },
): AsyncGenerator {
  const wanted = input === undefined ? given : input(given);
  const open = (): AsyncIterable<unknown> => upstream.open(wanted, { signal });
  for await (const step of upstreamSteps(open, { tellsIssues: input === undefined })) {
    if ("failure" in step) {
      progress.failure = { cause: step.failure };
      return;
    }
    progress.seen += 1;
    if (filter?.(step.value, given) === false) continue;
    const frame = map(step.value, given);
    progress.told += 1;
    yield frame;
  }
  if (isGone(upstream, wanted, signal)) progress.failure = { cause: createUpstreamEnded() };
}

async function* follow(derived: DerivedStream, given: unknown, context: HandlerContext): AsyncGenerator {
  const { otherwise } = derived.options;
  const { signal } = context;
  const progress: Progress = { seen: 0, told: 0 };
  yield* framesOf(derived, progress, { given, signal });
  const { failure, seen, told } = progress;
  if (signal.aborted) return;
  if (otherwise === undefined) {
    if (failure !== undefined) throw failure.cause;
  } else if (failure !== undefined || seen === 0) {
    const absent = new SurfaceError("ABSENT", "Cannot follow a stream: it ended without a frame");
    yield* otherwise(given, { cause: failure === undefined ? absent : toLost(failure.cause), told }, context);
  }
}

/**
 * Derives a stream from a stream of another surface, frame by frame. Each reader has its own iteration of upstream, which ends with the
 * reader. The stream fails like upstream, unless `otherwise` returns further frames. It fails with `UNAVAILABLE` if upstream is lost or
 * closed; over `inProcess()` alone, a stream of a surface that closes ends, and so does this one.
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
  assertFunctions(options, ["input", "filter", "otherwise"], "Deriving a stream");
  // By the overload, these take the values of this upstream and of its readers.
  const derived = { upstream, map, options } as unknown as DerivedStream;
  return (input, context) => follow(derived, input, context);
}
