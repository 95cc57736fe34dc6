import { refused } from "./receive-walk.ts";
import type { Check } from "./receive-walk.ts";

/** Lets everything pass. */
export const acceptAll: Check = (json) => json;

/** One check of many, each of which looks at what the one before has left. */
export function inOrder(checks: readonly Check[]): Check {
  const [only = acceptAll] = checks;
  if (checks.length < 2) return only;
  return (json, walk) => {
    let value = json;
    let settled = false;
    while (!settled) {
      settled = true;
      for (const [index, check] of checks.entries()) {
        const result = check(value, walk);
        if (result === refused) return refused;
        // What a later check drops an earlier one may have asked for.
        if (result !== value && index > 0) settled = false;
        value = result;
      }
    }
    return value;
  };
}
