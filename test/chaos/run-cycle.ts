import { setTimeout as sleep } from "node:timers/promises";
import type { FinalValue } from "./backend-protocol.ts";
import type { CycleHistory } from "./history.ts";
import type { Stage } from "./stage.ts";
import { strike } from "./strike.ts";
import { readResource, type View } from "./view.ts";

/** How long the load runs at most before the strike, and after the restart, in milliseconds. */
const calmMs = 60;

/** How long those who follow may take until they know what is there: a projection waits up to 5 s before it follows again. */
const settleMs = 8000;

/** Waits until every view shows what is there, or it has become too late for that. */
async function settled(views: readonly View[], finals: readonly FinalValue[]): Promise<void> {
  const texts = new Map(finals.map(({ uri, text }) => [uri, text]));
  const until = performance.now() + settleMs;
  while (performance.now() < until && views.some((view) => view.text !== texts.get(view.uri))) await sleep(10);
}

/** How long a projection may show stale values, in milliseconds: it follows a lost upstream again within 5 s. */
const staleMs = 8000;

/** Reads everything; behind a projection again and again until nothing is out of date, or it has become too late for that. */
async function readLast(stage: Stage, finals: readonly FinalValue[]): Promise<ReadonlyMap<string, string | null>> {
  const until = performance.now() + (stage.way === "projection" ? staleMs : 0);
  for (;;) {
    const read = await readAll(stage, finals);
    if (performance.now() >= until || finals.every(({ uri, text }) => read.get(uri) === text)) return read;
    await sleep(100);
  }
}

async function readAll(stage: Stage, finals: readonly FinalValue[]): Promise<ReadonlyMap<string, string | null>> {
  const read = async ({ uri }: FinalValue): Promise<[string, string | null]> => [
    uri,
    // One that failed is found among what was asked; here it is no value.
    (await readResource(stage.face, uri)) ?? null,
  ];
  return new Map(await Promise.all(finals.map(read)));
}

/** One cycle: load, strike, restart, load, a few changes more, quiet. Returns all that is known of it. */
export async function runCycle(stage: Stage, cycle: number): Promise<CycleHistory> {
  const { chance, load, subscriber, rings, changes, face, seed } = stage;
  chance.reseed(seed, cycle);
  stage.backend.stir();
  for (const each of [load, rings, changes]) each.start();
  await sleep(chance.below(calmMs));
  const reopening = reopen(stage);
  const struck = await strike({ chance, load, backend: stage.backend, restart: () => stage.restart(), cycle });
  await sleep(chance.below(calmMs));
  await Promise.all([load.stop(), rings.stop(), reopening]);
  const finals = await stage.backend.settle(seed + cycle);
  const views = [...subscriber.views.values(), changes.view];
  await settled(views, finals);
  await changes.stop();
  const lastReads = await readLast(stage, finals);
  const { asked, strays } = face.take();
  return {
    cycle,
    way: stage.way,
    ...struck,
    asked,
    finals,
    lastReads,
    journal: stage.readJournal(),
    views: views.map((view) => view.take()),
    rings: rings.take(),
    strays: [...strays, ...subscriber.faults.splice(0)],
  };
}

/** One subscription ends and begins anew meanwhile: before the strike, while there is no backend, or after it. */
async function reopen({ chance, subscriber }: Stage): Promise<void> {
  const group = chance.below(1000);
  await sleep(chance.below(200));
  await subscriber.reopen(group);
}
