import type { z } from "zod";

import type { Verdict } from "./pipeline-schemas.ts";

/**
 * Makes a filter that lets each verdict pass once. A coordinator that goes on with a run tells its verdicts again, for those
 * who have not heard them; who has is not told a second time, and is not sent to mend what has been mended since.
 */
export function createNovelty(): (verdict: z.output<typeof Verdict>) => boolean {
  let run = 0;
  const told = new Set<string>();
  return (verdict) => {
    if (verdict.run !== run) told.clear();
    run = verdict.run;
    // By all that it says: the numbers of another state directory begin at 1 as well.
    const words = JSON.stringify(verdict);
    const isNew = !told.has(words);
    told.add(words);
    return isNew;
  };
}
