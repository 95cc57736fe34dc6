import { randomUUID } from "node:crypto";
import type { AskKind, TimedInputRequest } from "../catalog/asking/asking.ts";
import { cannotBeAsked } from "../catalog/own-refusals.ts";
import type { JsonObject } from "../schema/json.ts";
import { createAbortedError, followSignal } from "../spine/signals.ts";
import { callerKey } from "../surface/caller.ts";
import { internalError, reportToConsole, type FaultReporter } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import type { ClientPort } from "./asker.ts";
import type { CallContext } from "./call-context.ts";
import { typedField } from "./confirm-call.ts";

/** A confirmation that waits for a decision. */
export interface Approval {
  /** Identifies this question. A call that asks again has another one. */
  readonly id: string;
  /** The name by which agents call the tool. */
  readonly tool: string;
  /** The `id` of the caller. For display: two tenants may share one. */
  readonly caller: string;
  /** The question with the arguments that will run, as a user would read it. */
  readonly message: string;
  /** The word that must be typed to agree. */
  readonly word?: string;
  /** Unix time in milliseconds. */
  readonly since: number;
  /** Unix time in milliseconds when the call fails without a decision. */
  readonly deadline: number;
}

/** The decision of a person about one confirmation. */
export interface ApprovalDecision {
  readonly agree: boolean;
  /** The typed word. A decision without the right one declines. */
  readonly word?: string;
}

/** Receives changes of the confirmations that wait. */
export interface Approver {
  /** Called after each change. */
  changed(): void;
}

interface Waiting {
  readonly approval: Approval;
  /** The key of the caller. */
  readonly key: string;
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (cause: Error) => void;
}

/** The maximum number of confirmations that wait: of all callers, and of one. */
const maxWaiting = 100;
const maxWaitingOfCaller = 16;

const formOnly: ReadonlySet<AskKind> = new Set<AskKind>(["elicit"]);

/** Confirmations that no client can show, for a person to decide. Closed until someone opens it; then such calls are refused. */
export class Approvals {
  readonly #report: FaultReporter;
  readonly #approvers = new Listeners();
  readonly #waiting = new Map<string, Waiting>();
  readonly #counts = new Map<string, number>();

  /** @param options - `report` receives what approvers throw. @default the console */
  constructor({ report = reportToConsole }: { readonly report?: FaultReporter | undefined } = {}) {
    this.#report = report;
  }

  /**
   * Lets calls whose client cannot show their confirmation wait for a decision. Returns a function that closes it. When the last
   * approver closes, the calls that wait are refused.
   */
  open(approver: Approver): () => void {
    const remove = this.#approvers.add(() => approver.changed());
    return () => {
      remove();
      if (this.#approvers.size > 0) return;
      for (const { approval, reject } of [...this.#waiting.values()]) {
        this.#remove(approval.id);
        reject(cannotBeAsked("elicit"));
      }
    };
  }

  /** Returns the confirmations that wait, oldest first. */
  waiting(): readonly Approval[] {
    return Array.from(this.#waiting.values(), ({ approval }) => approval);
  }

  /** Decides a confirmation. Returns `false` if it does not wait: it is unknown, decided, expired, or its call has ended. */
  decide(id: string, { agree, word }: ApprovalDecision): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return false;
    this.#remove(id);
    const content = word === undefined ? {} : { [typedField]: word };
    // A JavaScript caller may pass anything.
    const isAgreed: unknown = agree;
    waiting.resolve(isAgreed === true ? { action: "accept", content } : { action: "decline" });
    return true;
  }

  /** Creates the port that asks for a decision about a call. `undefined`: it is closed, or too many wait. */
  portFor(call: CallContext): ClientPort | undefined {
    if (!this.#hasRoom(callerKey(call.caller))) return undefined;
    return { kinds: formOnly, decidedOn: "page", push: (ask, signal) => this.#ask(call, ask, signal) };
  }

  #hasRoom(key: string): boolean {
    if (this.#approvers.size === 0 || this.#waiting.size >= maxWaiting) return false;
    return (this.#counts.get(key) ?? 0) < maxWaitingOfCaller;
  }

  #ask(call: CallContext, ask: TimedInputRequest, signal: AbortSignal): Promise<JsonObject> {
    const key = callerKey(call.caller);
    // Checked again, since others may have come meanwhile.
    if (!this.#hasRoom(key)) return Promise.reject(cannotBeAsked("elicit"));
    return new Promise((resolve, reject) => {
      const approval = toApproval(call, ask);
      this.#waiting.set(approval.id, { approval, key, resolve, reject });
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      followSignal(signal, () => {
        this.#remove(approval.id);
        reject(createAbortedError(signal, "Waiting for a decision"));
      });
      call.progress({ progress: 0, message: "waiting for a user's decision" });
      // The live page has its own words for it, and would keep these after the decision.
      if (call.tracked !== undefined) call.tracked.progress = undefined;
      this.#changed();
    });
  }

  #remove(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    const left = (this.#counts.get(waiting.key) ?? 0) - 1;
    if (left > 0) this.#counts.set(waiting.key, left);
    else this.#counts.delete(waiting.key);
    this.#changed();
  }

  #changed(): void {
    this.#approvers.tell(undefined, (cause) => void internalError(cause, "an approver of confirmations", this.#report));
  }
}

function toApproval({ entry, caller, latestAt }: CallContext, { params, timeoutMs }: TimedInputRequest): Approval {
  const since = Date.now();
  // The tool's own `timeoutMs` may end the call earlier.
  const leftMs = Math.min(timeoutMs, Math.ceil(latestAt - performance.now()));
  const word = entry?.confirmWord;
  const { message } = params;
  return Object.freeze({
    id: randomUUID(),
    tool: entry?.name ?? "",
    caller: caller.id,
    message: typeof message === "string" ? message : JSON.stringify(params),
    ...(word === undefined ? {} : { word }),
    since,
    deadline: since + leftMs,
  });
}
