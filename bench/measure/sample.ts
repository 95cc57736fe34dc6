/** One figure of ours, and what it is compared with. */
export interface Pair {
  readonly ours: number;
  readonly base: number;
}

/** What one round found: for each figure, both sides. A figure that could not be taken is absent. */
export type Sample = ReadonlyMap<string, Pair>;

/** What one round found of figures that are compared with the server written by hand, and with others. */
export interface OwnSamples {
  readonly written: Sample;
  readonly own: Sample;
}

/** A figure of one side, by its name. */
export type Figures = Readonly<Record<string, number | undefined>>;

/** Puts figures beside those that they are compared with. */
export function toSample(ours: Figures, base: Figures, suffix = ""): Sample {
  const sample = new Map<string, Pair>();
  for (const [name, mine] of Object.entries(ours)) {
    const theirs = base[name];
    if (mine !== undefined && theirs !== undefined) sample.set(`${name}${suffix}`, { ours: mine, base: theirs });
  }
  return sample;
}
