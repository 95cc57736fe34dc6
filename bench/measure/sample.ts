import type { Side } from "../driver/open-session.ts";

/** One figure of both sides. */
export type Pair = Readonly<Record<Side, number>>;

/** What one round found: for each figure, both sides. A figure that could not be taken is absent. */
export type Sample = ReadonlyMap<string, Pair>;

/** A figure of one side, by its name. */
export type Figures = Readonly<Record<string, number | undefined>>;

/** Puts the figures of both sides side by side. */
export function toSample(ours: Figures, written: Figures, suffix = ""): Sample {
  const sample = new Map<string, Pair>();
  for (const [name, mine] of Object.entries(ours)) {
    const theirs = written[name];
    if (mine !== undefined && theirs !== undefined) sample.set(`${name}${suffix}`, { ours: mine, written: theirs });
  }
  return sample;
}
