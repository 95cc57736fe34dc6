import { randomUUID } from "node:crypto";
import { Refusal, SurfaceError, type SurfaceErrorCode } from "../../errors.ts";
import { isObject } from "../../options/is-object.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import type { Caller } from "../../surface/caller.ts";
import type { SurfaceClient } from "../../surface/client.ts";
import type { TraceContext } from "../../surface/trace-context.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import type { Asks } from "../asking/asking.ts";
import { createAsks } from "../asking/create-asks.ts";
import type { EntryCall, LogLevel, OnAbort, ProgressReport } from "../entry.ts";
import type { DefaultScopes } from "../entry-scopes.ts";
import { operationNotFound, toResultText, type ErrorResult } from "../outcome.ts";
import {
  createClientCannot,
  restoreSessionEndedError,
  createUnansweredError,
  createUnreachedError,
} from "../own-refusals.ts";
import type { WireName } from "../wire-name.ts";
import type { MemoryContext } from "./memory-context.ts";
import { OwnContext, type ContextSource } from "./own-context.ts";

/**
 * Returns `INTERNAL` for a `VALIDATION_ERROR` that a handler throws. It is about values of the handler, not the caller's arguments, and
 * may name what the caller cannot see. Other errors stay as they are.
 */
function toHandlerFault(cause: unknown, where: string): unknown {
  try {
    if (!(cause instanceof SurfaceError) || cause.code !== "VALIDATION_ERROR") return cause;
  } catch {
    // A trap of the thrown value.
    return cause;
  }
  return new SurfaceError("INTERNAL", `Cannot run ${where}: its handler passed a value that does not fit its schema`, {
    cause,
  });
}

/** Runs a handler. @throws its error, or `INTERNAL` for a `VALIDATION_ERROR`. */
export async function runHandler<TValue>(run: () => TValue | Promise<TValue>, where: string): Promise<TValue> {
  try {
    return await run();
  } catch (cause) {
    throw toHandlerFault(cause, where);
  }
}

/** Dependencies of the entries of hand-written tools, prompts and resources. */
export interface BespokeSource {
  readonly client: SurfaceClient<unknown>;
  readonly scopes: DefaultScopes;
  /** @default contexts in memory */
  readonly contexts?: ContextSource | undefined;
}

/** Options of one nested call. */
export interface NestedCallOptions {
  /** The effect on a started nested call when the outer call ends early. @default "abort-dependents" */
  readonly onAbort?: OnAbort;
  /** Milliseconds until it fails with `TIMEOUT`; at most the time that the outer call has left. @default the timeout of the tool */
  readonly timeoutMs?: number;
  readonly onProgress?: (report: ProgressReport) => void;
}

/** The names that fit patterns; a superset for patterns with `?`. */
type Fitting<TPattern> = TPattern extends `${infer Head}${"*" | "?"}${infer Tail}`
  ? `${Head}${string}${Fitting<Tail>}`
  : TPattern;

// By names on the wire, since both an id and a pattern may be either.
/** `unknown` unless an id and a reach are literals and the id is provably out of reach. */
type ReachProblem<TId extends string, TReach> = TReach extends readonly (infer Pattern extends string)[]
  ? string extends TId | Pattern
    ? unknown
    : WireName<TId> extends Fitting<WireName<Pattern>>
      ? unknown
      : TypeProblem<`"${TId}" is not within the "canCall" of this tool`>
  : unknown;

/** The second argument of the handlers of hand-written tools, prompts and resources. Its functions can be destructured. */
export interface ToolContext<TSpec, TContext = MemoryContext, TReach = unknown> {
  /** The client of the app's surface. Connects on first use, so a handler that needs no backend works without one. */
  readonly client: SurfaceClient<TSpec>;
  /** Fires when the caller cancels, the deadline passes or the app closes. Created on first use. */
  readonly signal: AbortSignal;
  /**
   * The caller: anonymous over stdio, and over HTTP without `auth`. In a nested call it has the scopes of the calling tool's
   * `callScopes`.
   */
  readonly caller: Caller;
  /** The trace context of the call. Pass it to calls of procedures: `client.run.call(input, { trace })`. */
  readonly trace: TraceContext | undefined;
  readonly progress: (report: ProgressReport) => void;
  /** Writes to the client's log if the client has asked for that level. Never waits, never throws. */
  readonly log: (level: LogLevel, data: unknown, logger?: string) => void;
  /**
   * Calls another tool by its id or wire name, as a part of this call. The tool must be within the `canCall` of this one, and gets the
   * scopes of its `callScopes`; views do not matter. Resolves with the tool's `structuredContent`, in which a value that is not an
   * object is under `value`, or with its content blocks if it has none. Prompts, resources and completers reach no tool. After a
   * call of a tool without `mutates: false`, `ask` is refused: ask first.
   *
   * @throws Refusal of the tool; `OPERATION_NOT_FOUND` for a tool that does not exist, is out of reach, or needs more than the
   * authority; `CALL_DEPTH` if calls are nested too deep.
   * @throws SurfaceError for other failures of the tool.
   * @example
   * ```ts
   * const twice = app.tools({
   *   bump_twice: {
   *     canCall: ["bump"],
   *     // [{ value: 1 }, { value: 2 }]: bump returns a number
   *     handler: async (_args, { call }) => [await call("bump"), await call("bump")],
   *   },
   * });
   * ```
   */
  readonly call: <const $Id extends string>(
    id: $Id & ReachProblem<$Id, TReach>,
    input?: JsonObject,
    options?: NestedCallOptions,
  ) => Promise<JsonValue>;
  /** Asks the client: its user, its model, or for its roots. */
  readonly ask: Asks;
  /** Adds members to the `_meta` of the result. */
  readonly addMeta: (members: JsonObject) => void;
  /** The value of the app's `context()` for this call, created on first use. @default a `MemoryContext` that ends with the call */
  readonly context: TContext;
}

/** Calls another tool from within a call, by its id or its name on the wire. */
type NestedCaller = (id: string, input?: JsonObject, options?: NestedCallOptions) => Promise<JsonValue>;

/** The codes of `SurfaceError`s. A refusal with another code stays a `Refusal`. */
const ownCodes: ReadonlySet<string> = new Set<SurfaceErrorCode>([
  ...([
    "VALIDATION_ERROR",
    "INVALID_OUTPUT",
    "UNSERIALISABLE",
    "TIMEOUT",
    "ABORTED",
    "OVERFLOW",
    "UNAVAILABLE",
  ] as const),
  ...(["DISCONNECTED", "OUTCOME_UNKNOWN", "CONTRACT_MISMATCH", "PROTOCOL_MISMATCH", "FRAME_TOO_LARGE"] as const),
  ...(["DROPPED", "INPUT_REQUIRED", "CLOSED", "INTERNAL"] as const),
]);

function isOwnCode(code: string): code is SurfaceErrorCode {
  return ownCodes.has(code);
}

function toError(refused: ErrorResult): Refusal | SurfaceError {
  const { code, message, issues, details, correlationId, requiredCapabilities, unanswered } = refused;
  if (requiredCapabilities !== undefined) return createClientCannot(requiredCapabilities);
  if (code === operationNotFound.code) return createUnreachedError(refused);
  if (!isOwnCode(code)) return new Refusal(code, message, details);
  const over = restoreSessionEndedError(code, message);
  if (over !== undefined) return over;
  if (unanswered !== undefined) return createUnansweredError(unanswered);
  return new SurfaceError(code, message, { issues, ...(correlationId === undefined ? {} : { correlationId }) });
}

/** Makes a nested call. Copies the arguments, which the handler may change afterwards. */
async function callNested(
  call: EntryCall,
  id: string,
  [input, options]: readonly [input: JsonObject, options: NestedCallOptions],
): Promise<JsonValue> {
  if (!isObject(options)) {
    throw new SurfaceError("INVALID_OPTION", `Cannot call "${id}": its options must be an object`);
  }
  const { timeoutMs, onAbort, onProgress } = options;
  const deadlineAt = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  const args: unknown = JSON.parse(anyCodec.stringify(input));
  if (!isJsonObject(args)) {
    throw new SurfaceError("VALIDATION_ERROR", `Cannot call "${id}": its arguments must be an object`);
  }
  const countsQuestions = timeoutMs !== undefined;
  const bounds = { deadlineAt, countsQuestions, onAbort, onProgress };
  const result = toResultText(await call.nest({ target: { id }, args, as: "tool", ...bounds }));
  if (typeof result !== "string") throw toError(result);
  // The invoker has written this JSON.
  return JSON.parse(result) as JsonValue;
}

function ignore(): void {}

/** Creates `context.call` of a handler. A handler that rethrows `OPERATION_NOT_FOUND` fails with `INTERNAL`. */
function createNestedCall(call: EntryCall): NestedCaller {
  return (id, input = {}, options = {}) => {
    const answer = callNested(call, id, [input, options]);
    // A handler need not await the call: an unhandled rejection would end the process.
    answer.catch(ignore);
    return answer;
  };
}

type HandlerSource = Pick<BespokeSource, "client" | "contexts">;

/** The context of hand-written entries and of mounted operations. The signal, and most members, are created on first use. */
class EntryContext implements ToolContext<unknown, unknown> {
  readonly client: SurfaceClient<unknown>;
  readonly #call: EntryCall;
  readonly #contexts: ContextSource | undefined;
  #own: OwnContext | undefined;
  #runId: string | undefined;

  /** @param own - ended by the caller of the constructor. Left out: a context in memory, which needs no disposal. */
  constructor(call: EntryCall, { client, contexts }: HandlerSource, own?: OwnContext) {
    this.client = client;
    this.#call = call;
    this.#contexts = contexts;
    this.#own = own;
  }

  get context(): unknown {
    this.#own ??= new OwnContext(this.#call, this.#contexts);
    return this.#own.value;
  }

  get runId(): string {
    this.#runId ??= this.#call.runId ?? randomUUID();
    return this.#runId;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get caller(): Caller {
    return this.#call.caller;
  }

  get trace(): TraceContext | undefined {
    return this.#call.trace;
  }

  get call(): NestedCaller {
    return createNestedCall(this.#call);
  }

  get ask(): Asks {
    return createAsks(this.#call);
  }

  // Fields, so that handlers can destructure them.
  readonly addMeta = (members: JsonObject): void => this.#call.addMeta(members);

  readonly progress = (report: ProgressReport): void => this.#call.progress(report);

  readonly log = (level: LogLevel, data: unknown, logger?: string): void => {
    this.#call.log?.({ level, data, ...(logger === undefined ? {} : { logger }) });
  };
}

/** Creates the context of one call. @param own - ended by the caller of this function. */
export function createToolContext(
  call: EntryCall,
  source: HandlerSource,
  own: OwnContext,
): ToolContext<unknown, unknown> {
  return new EntryContext(call, source, own);
}

/** Runs a handler with the context of one call, and disposes the value of the author's factory. */
export function runInContext<TValue>(
  call: EntryCall,
  source: HandlerSource,
  run: (context: EntryContext) => TValue,
): TValue | Promise<Awaited<TValue>> {
  // A context in memory needs no disposal.
  if (source.contexts?.make === undefined) return run(new EntryContext(call, source));
  const own = new OwnContext(call, source.contexts);
  return own.during(() => run(new EntryContext(call, source, own)));
}
