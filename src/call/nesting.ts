import {
  operationNotFound,
  createErrorResult,
  inputRequired,
  type ErrorResult,
  type ToolOutcome,
} from "../catalog/outcome.ts";
import { callerKey, withCallerKey, type Caller } from "../surface/caller.ts";
import type { NestedCall, ToolEntry } from "../catalog/entry.ts";
import { toMatcher, type Matcher } from "../catalog/glob.ts";
import { SurfaceError } from "../errors.ts";
import { clipText } from "../schema/visible-text.ts";
import type { JsonObject } from "../schema/json.ts";
import { internalError, runUnawaited, type FaultReporter } from "../surface/fault.ts";
import { authorise } from "./authorise.ts";
import { questionsOf } from "./questions.ts";
import { CallContext, type ProgressSink } from "./call-context.ts";
import { toErrorResult } from "./to-error-result.ts";

/** The maximum depth of nested calls below the host's call. */
const maxDepth = 16;

const tooDeep: ErrorResult = Object.freeze(
  createErrorResult("CALL_DEPTH", `nested calls may be at most ${maxDepth} deep: check whether a tool calls itself`),
);

/** Dependencies of {@link NestedInvoker}. */
export interface NestingDeps {
  readonly find: (id: string) => ToolEntry | undefined;
  readonly report: FaultReporter;
  /** Runs an authorised call. Never rejects. */
  readonly run: (entry: ToolEntry, args: JsonObject, call: CallContext) => ToolOutcome | Promise<ToolOutcome>;
  readonly isConfirmed: (entry: ToolEntry) => boolean;
}

const maxIdBytes = 128;

function quote(texts: readonly string[]): string {
  return texts.length === 0 ? "nothing" : texts.map((text) => `"${text}"`).join(", ");
}

/** Returns the reason why the authority of a tool is not enough for an entry. */
export function lacksAuthority({ scopes, requires }: ToolEntry, agent: Caller): string {
  if (requires?.resource !== undefined) {
    return `it requires a right to ${requires.resource.type}, which only callers have, and no tool`;
  }
  const { scopesAny = [] } = requires ?? {};
  const anyOf = scopesAny.length === 0 ? "" : `${scopes.length === 0 ? "" : " and "}one of ${quote(scopesAny)}`;
  const all = scopes.length === 0 && anyOf !== "" ? "" : quote(scopes);
  return `its "callScopes" must have ${all}${anyOf}, and has ${quote(agent.scopes)}`;
}

/** The parent of a nested call, and the options of the nested call. */
export interface ParentLink extends Pick<NestedCall, "countsQuestions" | "onAbort" | "onMeta"> {
  readonly call: CallContext;
  deadlineAt?: NestedCall["deadlineAt"];
  /** Whether it ends when the client of the parent drops its connection. @default false */
  readonly endsOnDrop?: boolean | undefined;
  /** Whether it has the rights of a tool, so that the parent does not pass on its `_meta`. */
  readonly isForTool?: boolean | undefined;
}

interface Target {
  readonly entry: ToolEntry;
  readonly caller: Caller;
}

/** Returns the caller of a call that a tool makes with its rights: the same identity, with the scopes that the tool declares. */
function toAgent({ caller }: CallContext, by: ToolEntry): Caller {
  const { id, isAnonymous, view } = caller;
  const scopes = by.callScopes ?? by.scopes.slice(0, 1);
  const agent = { id, isAnonymous, isTool: true, scopes, ...(view === undefined ? {} : { view }) } as const;
  return isAnonymous ? Object.freeze(agent) : withCallerKey(Object.freeze(agent), callerKey(caller));
}

/** Runs nested calls. A tool outside the caller's `canCall` looks as if it did not exist. */
export class NestedInvoker {
  readonly #deps: NestingDeps;
  readonly #reaches = new WeakMap<ToolEntry, Matcher>();
  /** Running calls that outlive their parents. */
  readonly #detached = new Set<CallContext>();

  constructor(deps: NestingDeps) {
    this.#deps = deps;
  }

  /** Never rejects. */
  nest(parent: CallContext, by: ToolEntry, nested: NestedCall): Promise<ToolOutcome> {
    if (parent.isOver) return Promise.resolve(this.#tooLate(parent, by));
    const target = nested.as === "caller" ? findForCaller(parent, nested) : this.#findForTool(parent, by, nested);
    if ("kind" in target) return Promise.resolve(target);
    return parent.depth >= maxDepth ? Promise.resolve(tooDeep) : this.#run(parent, nested, target);
  }

  isConfirmed(entry: ToolEntry): boolean {
    return this.#deps.isConfirmed(entry);
  }

  /** Ends the calls that have outlived their parents. */
  close(): void {
    for (const call of this.#detached)
      call.abort(new SurfaceError("CLOSED", "Cannot finish a call: the app is closing"));
  }

  async #run(parent: CallContext, nested: NestedCall, target: Target): Promise<ToolOutcome> {
    const { as, args, onOverrun, onAbort } = nested;
    const { entry } = target;
    const call = this.#createCall(parent, nested, target);
    call.stillShown = nested.stillShown;
    call.turn = nested.turn;
    const questions = questionsOf(parent);
    questions?.place(call, parent, { id: entry.id, as, args });
    if (this.isConfirmed(entry)) call.posed = questions?.hold();
    parent.addChild(call);
    if (onAbort === "continue-running") this.#detached.add(call);
    const outcome = await this.#deps.run(entry, args, call);
    call.posed?.();
    call.whenIdle(() => {
      parent.removeChild(call);
      this.#detached.delete(call);
    });
    if (call.overrun !== undefined) onOverrun?.(call.overrun);
    return outcome;
  }

  #createCall(parent: CallContext, nested: NestedCall, { entry, caller }: Target): CallContext {
    const { as, onProgress, onMeta, deadlineAt, countsQuestions, onAbort } = nested;
    const isForTool = as === "tool";
    // A call with the rights of a tool ends with the tool's work.
    const endsOnDrop = !isForTool && entry.onDisconnect === "abort";
    return new CallContext({
      caller,
      log: parent.log,
      // The caller did not make such a call.
      limiter: isForTool ? undefined : parent.limiter,
      sink: onProgress && this.#toSink(onProgress, entry),
      partOf: { call: parent, deadlineAt, countsQuestions, onAbort, onMeta, isForTool, endsOnDrop },
    });
  }

  /** Finds the target of a tool's call, by entry or id. For callers an id would bypass their view. */
  #findForTool(parent: CallContext, by: ToolEntry, { target }: NestedCall): Target | ErrorResult {
    const entry = "entry" in target ? target.entry : this.#deps.find(target.id);
    const { id } = "entry" in target ? target.entry : target;
    if (entry === undefined) return this.#notFound(id, by, "there is no tool of this id or name");
    if (this.#reachOf(by)(entry) === undefined) {
      const why = `its "canCall" must have a pattern that matches "${entry.id}", and has ${quote(by.canCall ?? [])}`;
      return this.#notFound(id, by, why);
    }
    const caller = toAgent(parent, by);
    return authorise(caller, entry) === undefined
      ? { entry, caller }
      : this.#notFound(id, by, lacksAuthority(entry, caller));
  }

  /** Returns the same refusal for every reason, which the calling tool must not know. Reports the reason to the author. */
  #notFound(id: string, { origin }: ToolEntry, why: string): ErrorResult {
    const message = `Cannot call ${JSON.stringify(clipText(id, maxIdBytes))} from ${origin}: ${why}`;
    const { correlationId } = internalError(new SurfaceError("NOT_FOUND", message), origin, this.#deps.report);
    return { ...operationNotFound, correlationId };
  }

  #reachOf(by: ToolEntry): Matcher {
    const canCall = this.#reaches.get(by) ?? toMatcher(by.canCall ?? []);
    this.#reaches.set(by, canCall);
    return canCall;
  }

  #tooLate(parent: CallContext, by: ToolEntry): ErrorResult {
    if (parent.isSuspended) return inputRequired;
    const cause = parent.endedWith ?? new SurfaceError("ABORTED", "Cannot make a nested call: the call is over");
    return toErrorResult(cause, { where: by.origin, report: this.#deps.report, deadline: parent.passedDeadline });
  }

  /** Wraps `onProgress`, whose faults are those of the calling tool's author. */
  #toSink(onProgress: ProgressSink, { origin }: ToolEntry): ProgressSink {
    const where = `the onProgress for ${origin}`;
    const fail = (cause: unknown): void => void internalError(cause, where, this.#deps.report);
    return (progress) => runUnawaited(() => onProgress(progress), fail);
  }
}

function findForCaller({ caller }: CallContext, { target }: NestedCall): Target | ErrorResult {
  if (!("entry" in target) || target.entry.isInternal === true) return operationNotFound;
  return authorise(caller, target.entry) === undefined ? { entry: target.entry, caller } : operationNotFound;
}
