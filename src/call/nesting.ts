import { operationNotFound, createRefused, inputRequired, type Refused, type ToolOutcome } from "../catalog/outcome.ts";
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
import { toRefused } from "./to-refused.ts";

/** Number of calls that may be within each other, below the host's call. */
const maxDepth = 16;

const tooDeep: Refused = Object.freeze(
  createRefused(
    "CALL_DEPTH",
    `calls may be at most ${maxDepth} deep within each other, and this would be one more: does one of them call itself?`,
  ),
);

/** Dependencies of {@link Nesting}. */
export interface NestingDeps {
  readonly find: (id: string) => ToolEntry | undefined;
  readonly report: FaultReporter;
  /** Runs a call that its caller may make. Never rejects. */
  readonly run: (entry: ToolEntry, args: JsonObject, call: CallContext) => ToolOutcome | Promise<ToolOutcome>;
  readonly isConfirmed: (entry: ToolEntry) => boolean;
}

const maxIdBytes = 128;

function quote(texts: readonly string[]): string {
  return texts.length === 0 ? "nothing" : texts.map((text) => `"${text}"`).join(", ");
}

/** Says why the authority that a tool calls with is not enough for an entry. */
export function lacksAuthority({ scopes, requires }: ToolEntry, agent: Caller): string {
  if (requires?.resource !== undefined) {
    return `it takes a right to ${requires.resource.type}, which callers have themselves and no tool has for them`;
  }
  const { scopesAny = [] } = requires ?? {};
  const anyOf = scopesAny.length === 0 ? "" : `${scopes.length === 0 ? "" : " and "}one of ${quote(scopesAny)}`;
  const all = scopes.length === 0 && anyOf !== "" ? "" : quote(scopes);
  return `its "authority" must have ${all}${anyOf}, and has ${quote(agent.scopes)}`;
}

/** The call that a nested call is a part of, and its terms. */
export interface PartOf extends Pick<NestedCall, "countsQuestions" | "onAbort" | "onMeta"> {
  readonly call: CallContext;
  deadlineAt?: NestedCall["deadlineAt"];
  /** Whether it ends when the client drops the connection of the call above. @default false */
  readonly endsOnDrop?: boolean | undefined;
  /** Whether it has the rights of a tool: its `_meta` is not passed on to the caller above. */
  readonly isForTool?: boolean | undefined;
}

interface Target {
  readonly entry: ToolEntry;
  readonly caller: Caller;
}

/** Returns the caller of a call that a tool makes for itself: the same person, with only the rights that the tool declares. */
function toAgent({ caller }: CallContext, by: ToolEntry): Caller {
  const { id, isAnonymous, view } = caller;
  const scopes = by.authority ?? by.scopes.slice(0, 1);
  const agent = { id, isAnonymous, isTool: true, scopes, ...(view === undefined ? {} : { view }) } as const;
  return isAnonymous ? Object.freeze(agent) : withCallerKey(Object.freeze(agent), callerKey(caller));
}

/** Calls tools within calls. A tool out of reach answers like one that does not exist. */
export class Nesting {
  readonly #deps: NestingDeps;
  readonly #reaches = new WeakMap<ToolEntry, Matcher>();
  /** The running calls that go on when the call above them ends. */
  readonly #detached = new Set<CallContext>();

  constructor(deps: NestingDeps) {
    this.#deps = deps;
  }

  /** Never rejects. */
  nest(above: CallContext, by: ToolEntry, nested: NestedCall): Promise<ToolOutcome> {
    if (above.isOver) return Promise.resolve(this.#tooLate(above, by));
    const target = nested.as === "caller" ? ofCaller(above, nested) : this.#ofTool(above, by, nested);
    if ("kind" in target) return Promise.resolve(target);
    return above.depth >= maxDepth ? Promise.resolve(tooDeep) : this.#run(above, nested, target);
  }

  isConfirmed(entry: ToolEntry): boolean {
    return this.#deps.isConfirmed(entry);
  }

  /** Ends the calls that outlived the call above them. */
  close(): void {
    for (const call of this.#detached) call.abort(new SurfaceError("CLOSED", "Calling: the app is closing"));
  }

  async #run(above: CallContext, nested: NestedCall, target: Target): Promise<ToolOutcome> {
    const { as, args, onOverrun, onAbort } = nested;
    const { entry } = target;
    const call = this.#toPart(above, nested, target);
    call.stillShown = nested.stillShown;
    call.turn = nested.turn;
    const questions = questionsOf(above);
    questions?.place(call, above, { id: entry.id, as, args });
    if (this.isConfirmed(entry)) call.posed = questions?.hold();
    above.addPart(call);
    if (onAbort === "continue-running") this.#detached.add(call);
    const outcome = await this.#deps.run(entry, args, call);
    call.posed?.();
    call.whenIdle(() => {
      above.removePart(call);
      this.#detached.delete(call);
    });
    if (call.overrun !== undefined) onOverrun?.(call.overrun);
    return outcome;
  }

  #toPart(above: CallContext, nested: NestedCall, { entry, caller }: Target): CallContext {
    const { as, onProgress, onMeta, deadlineAt, countsQuestions, onAbort } = nested;
    const isForTool = as === "tool";
    // A call that a tool makes for itself is a part of its own work, which ends as it says.
    const endsOnDrop = !isForTool && entry.onDisconnect === "abort";
    return new CallContext({
      caller,
      log: above.log,
      // Such a call is no call of its caller's.
      limiter: isForTool ? undefined : above.limiter,
      sink: onProgress && this.#toSink(onProgress, entry),
      partOf: { call: above, deadlineAt, countsQuestions, onAbort, onMeta, isForTool, endsOnDrop },
    });
  }

  /** Only a tool names its target by an id: the view of a caller decides which ids that caller may call. */
  #ofTool(above: CallContext, by: ToolEntry, { target }: NestedCall): Target | Refused {
    const entry = "entry" in target ? target.entry : this.#deps.find(target.id);
    const { id } = "entry" in target ? target.entry : target;
    if (entry === undefined) return this.#notThere(id, by, "there is no tool of this id or name");
    if (this.#reachOf(by)(entry) === undefined) {
      const why = `its "reach" must have a pattern that fits "${entry.id}", and has ${quote(by.reach ?? [])}`;
      return this.#notThere(id, by, why);
    }
    const caller = toAgent(above, by);
    return authorise(caller, entry) === undefined
      ? { entry, caller }
      : this.#notThere(id, by, lacksAuthority(entry, caller));
  }

  /** Answers alike whatever the reason: the calling tool may not know of either. The reason is in the author's log. */
  #notThere(id: string, { origin }: ToolEntry, why: string): Refused {
    const what = `Calling ${JSON.stringify(clipText(id, maxIdBytes))} from ${origin}: ${why}`;
    const { correlationId } = internalError(new SurfaceError("NOT_FOUND", what), origin, this.#deps.report);
    return { ...operationNotFound, correlationId };
  }

  #reachOf(by: ToolEntry): Matcher {
    const reach = this.#reaches.get(by) ?? toMatcher(by.reach ?? []);
    this.#reaches.set(by, reach);
    return reach;
  }

  #tooLate(above: CallContext, by: ToolEntry): Refused {
    if (above.isSuspended) return inputRequired;
    const cause =
      above.endedWith ?? new SurfaceError("ABORTED", "Calling: the call that this would be part of is over");
    return toRefused(cause, { where: by.origin, report: this.#deps.report, deadline: above.passedDeadline });
  }

  /** `onProgress` is code of the author of the call above: its faults are not those of the tool. */
  #toSink(onProgress: ProgressSink, { origin }: ToolEntry): ProgressSink {
    const where = `hearing of the progress of ${origin}`;
    const fail = (cause: unknown): void => void internalError(cause, where, this.#deps.report);
    return (progress) => runUnawaited(() => onProgress(progress), fail);
  }
}

function ofCaller({ caller }: CallContext, { target }: NestedCall): Target | Refused {
  if (!("entry" in target) || target.entry.isInternal === true) return operationNotFound;
  return authorise(caller, target.entry) === undefined ? { entry: target.entry, caller } : operationNotFound;
}
