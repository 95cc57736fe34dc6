import type { AskKind, AskRecord } from "../catalog/asking.ts";
import { Refusal, type SurfaceError } from "../errors.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { CallContext } from "./call-context.ts";
import { Questions } from "./questions.ts";
import { Rehearsed } from "./rehearsed.ts";
import { isSuspended, watchGoingOn } from "./suspended.ts";

/** A handler that may ask, and where it runs. */
export interface Rehearsable<TWork> {
  readonly run: (call: CallContext) => TWork;
  readonly where: string;
  readonly report: FaultReporter;
}

function ignore(): void {}

/** A call in the place of another, which ends with its first question. */
function createTrial(call: CallContext): CallContext {
  const { caller, log, limiter, asking } = call;
  const trial = new CallContext({
    ...{ caller, log, limiter },
    sink: (report) => call.tell(report),
    asking: { kinds: asking?.kinds ?? new Set(), resumed: asking?.resumed },
  });
  trial.stepInFor(call);
  return trial;
}

/** Runs a handler to its end or its first question. Resolves with what it comes to, where that is no question. */
async function tryOut<TWork>(
  trial: CallContext,
  run: Rehearsable<TWork>["run"],
): Promise<{ readonly value: Awaited<TWork> } | undefined> {
  try {
    return { value: await trial.outcome(Promise.resolve(run(trial))) };
  } catch (cause) {
    if (!isSuspended(trial)) throw cause;
    // Two of them at once would be something else than one after the other.
    await trial.overrun?.then(ignore, ignore);
    return undefined;
  } finally {
    trial.finish();
  }
}

function handOn(call: CallContext, trial: CallContext): void {
  if (trial.meta !== undefined) call.addMeta(trial.meta);
}

/** What a handler came to when it was tried. */
interface Tried {
  readonly questions: Questions;
  readonly record: AskRecord;
}

/** Runs a handler that was tried: it has to do the same. */
async function runAgain<TWork>(
  { run, where, report }: Rehearsable<TWork>,
  call: CallContext,
  { questions, record }: Tried,
): Promise<Awaited<TWork>> {
  const rehearsed = new Rehearsed({ opened: questions.opened, made: questions.calls });
  const fail = (difference: SurfaceError): void => call.abort(internalError(difference, where, report));
  const { kinds = new Set<AskKind>(), push, onRoots } = call.asking ?? {};
  call.asking = { kinds, push, onRoots, resumed: { record, answers: {} } };
  call.questions = new Questions(call, call.asking, { rehearsed, fail });
  const value = await run(call);
  const difference = rehearsed.ended();
  if (difference !== undefined) throw internalError(difference, where, report);
  return value;
}

/**
 * Runs a handler as a development server does: up to its first question, if it comes to one, and then again from its beginning,
 * where it has to do the same until then. What it called the first time is not called again.
 *
 * @throws what the handler throws; SurfaceError `INTERNAL` where it does something else, with the difference in its author's log.
 */
export async function rehearse<TWork>(
  { run, where, report }: Rehearsable<TWork>,
  call: CallContext,
): Promise<Awaited<TWork>> {
  const trial = createTrial(call);
  const done = await tryOut(trial, run);
  handOn(call, trial);
  if (done !== undefined) return done.value;
  watchGoingOn(trial, { where, report });
  call.assertRunning();
  const outcome = trial.questions?.outcome;
  if (outcome?.kind === "refused") throw new Refusal(outcome.code, outcome.message);
  if (outcome === undefined || trial.questions === undefined) return await run(call);
  return runAgain({ run, where, report }, call, { questions: trial.questions, record: outcome.record });
}
