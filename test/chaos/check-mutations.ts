import type { Asked, CycleHistory, JournalLine, Strike, Violation } from "./history.ts";
import { tellStory } from "./tell-story.ts";

interface Noted {
  taken: number;
  applied: number;
}

/** A mutation, what is on record of it, and what was done to the backend. */
interface Told {
  readonly asked: Asked;
  readonly record: Noted;
  readonly strikes: readonly Strike[];
}

function count(journal: readonly JournalLine[]): Map<string, Noted> {
  const records = new Map<string, Noted>();
  for (const { what, id } of journal) {
    const record = records.get(id) ?? { taken: 0, applied: 0 };
    record[what] += 1;
    records.set(id, record);
  }
  return records;
}

/** Whether the backend went away between the question and the answer. */
function isCut({ at, answers }: Asked, strikes: readonly Strike[]): boolean {
  const answeredAt = answers[0]?.at ?? Infinity;
  return strikes.some((strike) => strike.at <= answeredAt && strike.overAt >= at);
}

/** What must hold of a mutation that was answered so -> what is wrong where it does not. */
const truths: Readonly<Record<string, readonly [holds: (told: Told) => boolean, sentence: string]>> = {
  ok: [({ record }) => record.applied === 1, "was answered and never applied"],
  UNAVAILABLE: [({ record }) => record.taken === 0, "was taken up, and its caller told that nothing was sent"],
  OUTCOME_UNKNOWN: [({ asked, strikes }) => isCut(asked, strikes), "was said to be unknown while the backend lived"],
};

function judge(told: Told): string | undefined {
  const { taken, applied } = told.record;
  if (applied > 1 || taken > 1) return `was taken ${taken} and applied ${applied} times`;
  const [answer] = told.asked.answers;
  // That it was not answered is found by another check.
  if (answer === undefined) return undefined;
  const [holds, sentence] = truths[answer.outcome] ?? [() => false, `was refused with ${answer.outcome}`];
  return holds(told) ? undefined : sentence;
}

/**
 * No mutation is applied twice, and each caller is told the truth: `ok` is applied, `UNAVAILABLE` never began, everything
 * that a strike cut is `OUTCOME_UNKNOWN`, and nothing else is.
 */
export function* checkMutations(history: CycleHistory): Generator<Violation> {
  const records = count(history.journal);
  const check = "mutations";
  for (const asked of history.asked) {
    if (asked.sort !== "mutation") continue;
    const record = records.get(asked.id) ?? { taken: 0, applied: 0 };
    const text = judge({ asked, record, strikes: history.strikes });
    records.delete(asked.id);
    if (text !== undefined) yield { check, subject: asked.id, text, story: tellStory(history, asked.id) };
  }
  for (const id of records.keys()) {
    yield { check, subject: id, text: "is on record and was not asked in this cycle", story: tellStory(history, id) };
  }
}
