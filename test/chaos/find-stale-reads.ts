import type { Answer, Asked, CycleHistory } from "./history.ts";
import { cellUris, type Stamp } from "./surface.ts";

/** A request whose answer told of a state. */
type Told = Asked & { readonly answers: readonly [Answer & { readonly stamp: Stamp }] };

/** A read that told less than an answer which its client had before it asked. */
export interface StaleRead {
  readonly read: Told;
  readonly before: Told;
}

interface Moment {
  readonly at: number;
  readonly told: Told;
  readonly isAnswer: boolean;
}

function isTold(asked: Asked): asked is Told {
  return asked.answers[0]?.stamp !== undefined && asked.sort !== "wait";
}

function isOlder(one: Stamp, other: Stamp): boolean {
  return one.gen === other.gen ? one.n < other.n : one.gen < other.gen;
}

function toMoments(told: Told): readonly Moment[] {
  return [
    { at: told.at, told, isAnswer: false },
    { at: told.answers[0].at, told, isAnswer: true },
  ];
}

function* findIn(all: readonly Told[]): Generator<StaleRead> {
  const known = new Map<Told, Told | undefined>();
  let newest: Told | undefined;
  for (const { told, isAnswer } of all.flatMap(toMoments).toSorted((one, other) => one.at - other.at)) {
    const { stamp } = told.answers[0];
    if (!isAnswer) known.set(told, newest);
    else if (newest === undefined || isOlder(newest.answers[0].stamp, stamp)) newest = told;
    const before = isAnswer && told.sort === "read" ? known.get(told) : undefined;
    if (before !== undefined && isOlder(stamp, before.answers[0].stamp)) yield { read: told, before };
  }
}

/**
 * The reads that went back: those of one thing against each other, those of the count of mutations against the mutations
 * too, each of which answers with the count that it has left.
 */
export function findStaleReads({ asked }: CycleHistory): readonly StaleRead[] {
  const byWhat = new Map<string, Told[]>();
  for (const told of asked.filter(isTold)) {
    const what = told.sort === "mutation" ? cellUris.count : told.what;
    const all = byWhat.get(what) ?? [];
    byWhat.set(what, all);
    all.push(told);
  }
  return [...byWhat.values()].flatMap((all) => [...findIn(all)]);
}
