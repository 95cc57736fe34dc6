import { SurfaceError } from "../../errors.ts";
import type { SurfaceClient } from "../../surface/client.ts";
import type { DefaultScopes } from "../entry-scopes.ts";
import { OwnContext, type ContextSource } from "./own-context.ts";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import type { Asks } from "../asking/asking.ts";
import type { Caller } from "../../surface/caller.ts";
import type { EntryCall, LogLevel, OnAbort, ProgressReport } from "../entry.ts";
import { createAsks } from "../asking/create-asks.ts";
import type { TypeProblem } from "../../tags/type-problem.ts";
import type { WireName } from "../wire-name.ts";
import type { MemoryContext } from "./memory-context.ts";
import { createNestedCall, type NestedCaller } from "./nested-call.ts";

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
  return new SurfaceError("INTERNAL", `Running ${where}: its handler used something in a way that does not fit`, {
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

/** What custom tools, prompts and resources need. */
export interface BespokeSource {
  readonly client: SurfaceClient<unknown>;
  readonly scopes: DefaultScopes;
  /** @default contexts in memory */
  readonly contexts?: ContextSource | undefined;
}

/** Options of one nested call. */
export interface NestedCallOptions {
  /** What becomes of it when the call that it is part of ends early, once it has started. Default `"abort-dependents"`. */
  readonly onAbort?: OnAbort;
  /** Milliseconds until it answers `TIMEOUT`. Default: the tool's own; never longer than what is left of the call above. */
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
      : TypeProblem<`"${TId}" is not within the "reach" of this tool`>
  : unknown;

/** What the handlers of tools, prompts and resources that are no members receive besides their arguments. */
export interface ToolContext<TSpec, TContext = MemoryContext, TReach = unknown> {
  /** The surface behind the app. Connects on first use, so that a handler which needs no backend works without one. */
  readonly client: SurfaceClient<TSpec>;
  /** Fires when the caller cancels, the deadline passes or the face closes. Made only if asked for. */
  readonly signal: AbortSignal;
  /**
   * Who asks: anonymous over standard input and output, and over HTTP without `auth`. Where a tool has called, for them, with the
   * scopes of its authority in the place of theirs.
   */
  readonly caller: Caller;
  /** May be taken out of the context, as may `log`: `({ progress }) => …`. */
  readonly progress: (report: ProgressReport) => void;
  /** Tells the client's log, where the client wants to hear of that level; never waits, and never throws. */
  readonly log: (level: LogLevel, data: unknown, logger?: string) => void;
  /**
   * Calls another tool by its id or its name on the wire, as a part of this call: within the `reach` and under the `authority` that
   * the tool declares whose handler this is, whatever views hide. Resolves with what the tool says to programs: an object, which
   * has under `value` what is none; or with its content blocks where it says nothing to them. Rejects with a `Refusal`: the tool's
   * own, `OPERATION_NOT_FOUND` for what is out of reach, takes more than the authority, or does not exist, `CALL_DEPTH` where
   * calls are too deep within each other; or with a `SurfaceError`. Prompts, resources and completers reach nothing. After a call of
   * a tool without `mutates: false`, `ask` is refused: ask first.
   *
   * @example
   * ```ts
   * const twice = app.tools({
   *   bump_twice: {
   *     reach: ["bump"],
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
  /** Asks the client: its user, its model, where its user works. */
  readonly ask: Asks;
  /** Says something beside the answer, for programs: members of its `_meta`. May be taken out of the context. */
  readonly addMeta: (members: JsonObject) => void;
  /**
   * What the app's `context()` makes for each call, when it is first asked for; where the app has none, topics, values and jobs in
   * memory, of which nothing outlives the call.
   */
  readonly context: TContext;
}

type HandlerSource = Pick<BespokeSource, "client" | "contexts">;

/** The context of one call. The signal is created at first use. */
class CallToolContext implements ToolContext<unknown, unknown> {
  readonly client: SurfaceClient<unknown>;
  readonly #call: EntryCall;
  readonly #contexts: ContextSource | undefined;
  #own: OwnContext | undefined;

  constructor(call: EntryCall, { client, contexts }: HandlerSource, own?: OwnContext) {
    this.#call = call;
    this.#contexts = contexts;
    this.#own = own;
    this.client = client;
  }

  get context(): unknown {
    this.#own ??= new OwnContext(this.#call, this.#contexts);
    return this.#own.value;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get caller(): Caller {
    return this.#call.caller;
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

/** Creates the context of one call. @param own - the caller of this function ends it. */
export function createToolContext(
  call: EntryCall,
  source: HandlerSource,
  own: OwnContext,
): ToolContext<unknown, unknown> {
  return new CallToolContext(call, source, own);
}

/** Runs a handler with the context of one call, and disposes the result of the author's factory. */
export function runInContext<TValue>(
  call: EntryCall,
  source: HandlerSource,
  run: (context: ToolContext<unknown, unknown>) => TValue,
): TValue | Promise<Awaited<TValue>> {
  // A context in memory needs no disposal.
  if (source.contexts?.make === undefined) return run(new CallToolContext(call, source));
  const own = new OwnContext(call, source.contexts);
  return own.during(() => run(createToolContext(call, source, own)));
}
