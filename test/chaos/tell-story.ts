import type { CycleHistory } from "./history.ts";

interface Moment {
  readonly at: number;
  readonly text: string;
}

function* momentsOfBackends({ strikes, restarts }: CycleHistory): Generator<Moment> {
  for (const { kind, at, overAt } of strikes) {
    yield { at, text: `backend: ${kind}` };
    yield { at: overAt, text: "backend: gone" };
  }
  for (const { gen, at, listeningAt } of restarts) {
    yield { at, text: `backend ${gen}: started` };
    yield { at: listeningAt, text: `backend ${gen}: listens` };
  }
}

function* momentsOfCalls({ asked }: CycleHistory, subject: string): Generator<Moment> {
  for (const { id, what, at, answers } of asked) {
    if (id !== subject && what !== subject) continue;
    yield { at, text: `${id}: asked ${what}` };
    for (const { at: answeredAt, outcome, stamp } of answers) {
      const told = stamp === undefined ? "" : `, backend ${stamp.gen} at ${stamp.n}`;
      yield { at: answeredAt, text: `${id}: ${outcome}${told}` };
    }
  }
}

function* momentsOfViews({ views, finals }: CycleHistory, subject: string): Generator<Moment> {
  for (const { name, uri, joins, notices, reads } of views) {
    if (uri !== subject) continue;
    for (const at of joins) yield { at, text: `${name}: subscribed` };
    for (const at of notices) yield { at, text: `${name}: announced` };
    for (const { at, text } of reads) yield { at, text: `${name}: read ${String(text)}` };
  }
  for (const { uri, changedAt, text } of finals) {
    if (uri === subject && changedAt !== null)
      yield { at: changedAt, text: `backend: last change, to ${String(text)}` };
  }
}

/** Everything that is known of one id or URI, in the order in which it happened, among what happened to the backends. */
export function tellStory(history: CycleHistory, subject: string): readonly string[] {
  const moments = [
    ...momentsOfBackends(history),
    ...momentsOfCalls(history, subject),
    ...momentsOfViews(history, subject),
  ].toSorted((one, other) => one.at - other.at);
  const start = moments[0]?.at ?? 0;
  const lines = moments.map(({ at, text }) => `${(at - start).toFixed(1).padStart(9)} ms  ${text}`);
  const noted = history.journal.filter(({ id }) => id === subject).map(({ what }) => `   on record  ${what}`);
  return [...lines, ...noted];
}
