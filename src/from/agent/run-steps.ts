import { followSignal } from "../../spine/signals.ts";
import { burst, nextTurn } from "../../surface/owner/next-turn.ts";
import { isFunction } from "../../options/is-object.ts";

/** A run of steps: an asynchronous generator, or one that is not, or what somebody has written by hand. */
export interface Steps {
  next(): unknown;
  return?(value: undefined): unknown;
}

/** What happens to a run of steps while it goes on. */
export interface StepsTold {
  readonly signal: AbortSignal;
  /** Takes one step. Must not throw. */
  readonly tell: (step: unknown) => void;
  /** Takes what went wrong while the run was ended, which nobody waits for. Must not throw. */
  readonly fail: (cause: unknown) => void;
}

/** How often a run that was ended may say that it goes on. */
const maxAfterEnd = 1000;

function hasNext(value: unknown): value is Steps {
  return typeof value === "object" && value !== null && isFunction(Reflect.get(value, "next"));
}

/** The steps that an agent answered with; `undefined` for what is its output itself. */
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

/** Ends a run, and waits for its `finally`; what that yields is not told. Never rejects. */
async function endSteps(steps: Steps, fail: StepsTold["fail"]): Promise<void> {
  try {
    let result: unknown = await steps.return?.(undefined);
    for (let count = 0; !isDone(result) && count < maxAfterEnd; count += 1) result = await steps.next();
  } catch (cause) {
    fail(cause);
  }
}

/**
 * Runs steps to their end, and answers what they return. When the signal fires they are returned at once, or, where they are
 * busy, at their next `yield`; their `finally` is waited for. Steps that never wait do not keep the process from anything else.
 *
 * @throws what the steps throw; the reason of the signal where that has fired.
 */
export async function runSteps(steps: Steps, { signal, tell, fail }: StepsTold): Promise<unknown> {
  let ending: Promise<void> | undefined;
  let isWithin = false;
  const end = (): void => {
    // What they do themselves may fire it: they cannot be returned before they have come out.
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
      if (!signal.aborted) tell(valueOf(result));
      if (count % burst === 0) await nextTurn();
    }
    throw signal.reason;
  } finally {
    stop();
    await ending;
  }
}
