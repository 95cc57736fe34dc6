import { type Plan, runSchedule } from "./run-schedule.ts";

/** The fewest steps that it finds under which a failing schedule still breaks the same promise. */
export function shrink(plan: Plan): ReadonlySet<number> {
  const { violation, steps } = runSchedule(plan);
  let kept = plan.kept ?? new Set(Array.from({ length: steps }, (_, step) => step));
  const stillFails = (tried: ReadonlySet<number>): boolean =>
    runSchedule({ ...plan, kept: tried, isTraced: false }).violation?.invariant === violation?.invariant;
  const dropEach = (size: number): boolean => {
    const list = [...kept];
    for (let at = 0; at < list.length; at += size) {
      const dropped = new Set(list.slice(at, at + size));
      const left = new Set([...kept].filter((step) => !dropped.has(step)));
      if (stillFails(left)) kept = left;
    }
    return kept.size < list.length;
  };
  for (let size = 32; size >= 1; size = Math.floor(size / 2)) {
    let isShorter = true;
    while (isShorter) isShorter = dropEach(size);
  }
  return kept;
}
