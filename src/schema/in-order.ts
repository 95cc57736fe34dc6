import { refused } from "./receive-walk.ts";
import type { Check, ReceiveWalk } from "./receive-walk.ts";

/** Lets everything pass. */
export const acceptAll: Check = (json) => json;

/** One check of many, each of which looks at what the one before has left. */
export function inOrder(checks: readonly Check[]): Check {
  const [first = acceptAll, ...others] = checks;
  if (others.length === 0) return first;
  return (json, walk) => {
    let value = first(json, walk);
    for (;;) {
      const before = value;
      value = runAll(others, value, walk);
      if (value === before || value === refused) return value;
      // What a later check drops an earlier one may have asked for.
      value = first(value, walk);
    }
  };
}

function runAll(checks: readonly Check[], json: ReturnType<Check>, walk: ReceiveWalk): ReturnType<Check> {
  let value = json;
  for (const check of checks) {
    if (value === refused) return refused;
    value = check(value, walk);
  }
  return value;
}
