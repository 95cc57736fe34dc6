import type { ProgressReport } from "../../catalog/entry.ts";
import type { JsonObject } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import { followSignal } from "../../spine/signals.ts";
import { stepsPerTurn, nextTurn } from "../../surface/owner/waiting.ts";
import { isFunction } from "../../options/is-object.ts";

/**
 * One step of an agent's run, reported as progress. Known kinds are `llm_call_started`, `llm_call_completed`, `tool_call_started`
 * and `tool_call_completed`; any other text is a kind too.
 */
export interface AgentStep {
  readonly kind: string;
  /** Text for people, shown after the kind. @default the tool, model, tokens and latency of the step */
  readonly message?: string;
  /** Tokens that the model call used. Leave it out if the number is unknown: 0 would count as known. */
  readonly tokens?: number;
  /** Milliseconds that the step took. */
  readonly latencyMs?: number;
  /** Name of the called model. */
  readonly model?: string;
  /** Name of the called tool. */
  readonly tool?: string;
  /** Further JSON for programs, at most 4 KiB together with the fields above. */
  readonly [detail: string]: unknown;
}

/** The kind of the step that ends a model call and has its tokens. */
const modelAnswered = "llm_call_completed";

/** Returns a copy of a step; `undefined` for a value that is not a step. Never throws. */
export function readStep(value: unknown): AgentStep | undefined {
  try {
    if (typeof value !== "object" || value === null) return undefined;
    const step: Record<string, unknown> = { ...value };
    const { kind } = step;
    return typeof kind === "string" && kind !== "" ? { ...step, kind } : undefined;
  } catch {
    // A getter that throws.
    return undefined;
  }
}

/** The key of `_meta` with the step of a progress notification. */
const stepKey = "surface-mcp/step";

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** Returns whether a step ends a model call. */
export function endsModelCall({ kind }: AgentStep): boolean {
  return kind === modelAnswered;
}

/** Returns the tokens of a model call, if the step has them. */
export function tokensOf({ kind, tokens }: AgentStep): number | undefined {
  return kind === modelAnswered && isCount(tokens) ? tokens : undefined;
}

function summaryOf({ message, tool, model, tokens, latencyMs }: AgentStep): string {
  if (typeof message === "string" && message !== "") return message;
  const what = [tool, model].filter((word) => typeof word === "string" && word !== "");
  const taken = [
    isCount(tokens) ? [`${tokens} tokens`] : [],
    isCount(latencyMs) ? [`${Math.round(latencyMs)} ms`] : [],
  ];
  return [...what, ...taken.flat()].join(", ");
}

/** Returns the JSON of a step, without fields that have no JSON form. */
function detailsOf(step: AgentStep): JsonObject {
  const details: JsonObject = {};
  for (const [key, value] of Object.entries(step)) {
    if (value === undefined || (key === "tokens" && !isCount(value))) continue;
    try {
      Object.defineProperty(details, key, { value: anyCodec.encode(value), enumerable: true });
    } catch {
      // A cycle, a function, or a getter that throws.
    }
  }
  return details;
}

/** A step as a progress report. Its members are created when a client that wants progress reads them. */
export class StepReport implements ProgressReport {
  readonly progress: number;
  readonly #step: AgentStep;

  constructor(progress: number, step: AgentStep) {
    this.progress = progress;
    this.#step = step;
  }

  get message(): string {
    const summary = summaryOf(this.#step);
    return summary === "" ? this.#step.kind : `${this.#step.kind}: ${summary}`;
  }

  get meta(): JsonObject {
    return { [stepKey]: detailsOf(this.#step) };
  }
}

/** A generator, synchronous or not, or an object like one. */
interface Steps {
  next(): unknown;
  return?(value: undefined): unknown;
}

interface StepsListener {
  readonly signal: AbortSignal;
  /** Receives a step. Must not throw. */
  readonly report: (step: unknown) => void;
  /** Receives the errors of ending the run. Must not throw. */
  readonly fail: (cause: unknown) => void;
}

/** Steps that a run may yield after it was ended. */
const maxAfterEnd = 1000;

function hasNext(value: unknown): value is Steps {
  return typeof value === "object" && value !== null && isFunction(Reflect.get(value, "next"));
}

/** Returns the steps that an agent returned; `undefined` for an output. */
export function stepsOf(answer: unknown): Steps | undefined {
  if (typeof answer !== "object" || answer === null) return undefined;
  const open: unknown = Reflect.get(answer, Symbol.asyncIterator);
  if (isFunction(open)) {
    const steps: unknown = Reflect.apply(open, answer, []);
    return hasNext(steps) ? steps : undefined;
  }
  return Symbol.iterator in answer && hasNext(answer) ? answer : undefined;
}

function isDone(result: unknown): boolean {
  return typeof result !== "object" || result === null || Reflect.get(result, "done") === true;
}

function valueOf(result: unknown): unknown {
  return typeof result === "object" && result !== null ? Reflect.get(result, "value") : undefined;
}

/** Ends a run and waits for its `finally`, whose steps are dropped. Never rejects. */
async function endSteps(steps: Steps, fail: StepsListener["fail"]): Promise<void> {
  try {
    let result: unknown = await steps.return?.(undefined);
    for (let count = 0; !isDone(result) && count < maxAfterEnd; count += 1) result = await steps.next();
  } catch (cause) {
    fail(cause);
  }
}

/**
 * Runs steps to their end and resolves with their return value. When the signal fires, the steps are returned at once or at their
 * next `yield`, and their `finally` is awaited. Other work gets turns between steps that never wait.
 *
 * @throws the error of the steps, or the reason of the signal.
 */
export async function runSteps(steps: Steps, { signal, report, fail }: StepsListener): Promise<unknown> {
  let ending: Promise<void> | undefined;
  let isWithin = false;
  const end = (): void => {
    // The steps themselves may fire the signal, and a running generator cannot be returned.
    if (!isWithin) ending ??= endSteps(steps, fail);
  };
  const next = (): unknown => {
    isWithin = true;
    try {
      return steps.next();
    } finally {
      isWithin = false;
      if (signal.aborted) end();
    }
  };
  const stop = followSignal(signal, end);
  try {
    for (let count = 1; !signal.aborted; count += 1) {
      const result: unknown = await next();
      if (isDone(result)) return valueOf(result);
      if (!signal.aborted) report(valueOf(result));
      if (count % stepsPerTurn === 0) await nextTurn();
    }
    throw signal.reason;
  } finally {
    stop();
    await ending;
  }
}
