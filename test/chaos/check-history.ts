import { checkMutations } from "./check-mutations.ts";
import { checkViews } from "./check-views.ts";
import { findStaleReads } from "./find-stale-reads.ts";
import { type Answer, type Asked, type CycleHistory, isBackSoon, type Ring, type Violation } from "./history.ts";
import { tellStory } from "./tell-story.ts";

/** A projection answers while its upstream is gone: by a stale value, or if it has none, by `UNAVAILABLE`. */
function isOutage({ way }: CycleHistory, { outcome }: Answer): boolean {
  return way === "projection" && outcome === "UNAVAILABLE";
}

function* checkAnswers(history: CycleHistory): Generator<Violation> {
  const fault = (asked: Asked, check: string, text: string): Violation => ({
    check,
    subject: asked.id,
    text,
    story: tellStory(history, asked.id),
  });
  for (const asked of history.asked) {
    const [answer, ...more] = asked.answers;
    if (answer === undefined) yield fault(asked, "one answer", "was never answered");
    else if (more.length > 0) yield fault(asked, "one answer", `was answered ${asked.answers.length} times`);
    if (answer === undefined || asked.sort === "mutation" || !isBackSoon(history)) continue;
    if (answer.outcome !== "ok" && !isOutage(history, answer))
      yield fault(asked, "no failed read", `was refused with ${answer.outcome}`);
    const tookMs = answer.at - asked.at;
    if (tookMs > asked.deadlineMs) yield fault(asked, "no failed read", `took ${Math.round(tookMs)} ms`);
  }
}

/** Once one caller was answered by the next backend, nobody who asks after that is told what a former one held. */
function* checkPast(history: CycleHistory): Generator<Violation> {
  const gen = history.restarts[0]?.gen ?? 0;
  const news = history.asked.flatMap(({ answers }) => answers).filter(({ stamp }) => stamp?.gen === gen);
  const newsAt = Math.min(...news.map(({ at }) => at));
  for (const { id, at, answers } of history.asked) {
    const told = answers[0]?.stamp;
    if (told === undefined || told.gen >= gen || at < newsAt) continue;
    const text = `was answered with a value of backend ${told.gen}, after backend ${gen} was heard of`;
    yield { check: "no read of the past", subject: id, text, story: tellStory(history, id) };
  }
}

/** Who asks after a mutation was answered is told of what it did, or of later. */
function* checkOwnWrites(history: CycleHistory): Generator<Violation> {
  for (const { read, before } of findStaleReads(history)) {
    if (before.sort !== "mutation") continue;
    const story = [...tellStory(history, before.id), ...tellStory(history, read.id)];
    const text = `was told less than "${before.id}" had done, which was answered before`;
    yield { check: "own writes are read", subject: read.id, text, story };
  }
}

/** The one who follows with a cursor hears each ring, or hears that it has missed some. */
function* checkRings({ rings }: CycleHistory): Generator<Violation> {
  let last: Ring | undefined;
  for (const ring of rings) {
    const text = judgeRing(last, ring);
    if (text !== undefined) {
      const story = [last, ring].map((each) => JSON.stringify(each));
      yield { check: "no lost occurrence", subject: "rang", text, story };
    }
    if (ring.isReset || ring.rung !== undefined) last = ring;
  }
}

function judgeRing(last: Ring | undefined, { rung, missed, isReset }: Ring): string | undefined {
  if (last?.rung === undefined || rung === undefined || isReset) return undefined;
  if (rung.gen !== last.rung.gen) return "went on in another backend without a word";
  const expected = last.rung.n + 1 + missed;
  return rung.n === expected ? undefined : `heard ring ${rung.n} where ${expected} was next`;
}

function* checkStrays({ strays }: CycleHistory): Generator<Violation> {
  for (const stray of strays) {
    yield { check: "nothing but protocol", subject: "standard output", text: stray.slice(0, 400), story: [] };
  }
}

/** All that must hold of one cycle, and does not. */
export function checkHistory(history: CycleHistory): readonly Violation[] {
  return [
    ...checkAnswers(history),
    ...checkPast(history),
    ...checkOwnWrites(history),
    ...checkMutations(history),
    ...checkViews(history),
    ...checkRings(history),
    ...checkStrays(history),
  ];
}
