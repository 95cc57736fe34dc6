import type { JsonValue } from "./json.ts";
import { refuse, refused } from "./receive-walk.ts";
import type { Check, ReceiveWalk, Remembered } from "./receive-walk.ts";

/**
 * Lets a check answer once a value. A recursive schema with alternatives would otherwise look at a part once for every
 * way that leads to it, which is 2^depth.
 */
export function rememberChecks(check: Check): Check {
  return (json, walk) => {
    if (typeof json !== "object" || json === null) return check(json, walk);
    const answers = answersOf(check, walk);
    const known = answers.get(json);
    if (known !== undefined) return repeat(known, walk);
    const before = walk.dropped;
    const result = check(json, walk);
    answers.set(json, { result, dropped: walk.dropped - before });
    return result;
  };
}

function answersOf(check: Check, walk: ReceiveWalk): Map<JsonValue, Remembered> {
  walk.known ??= { lax: new Map(), strict: new Map() };
  const checks = walk.strict ? walk.known.strict : walk.known.lax;
  const answers = checks.get(check) ?? new Map<JsonValue, Remembered>();
  checks.set(check, answers);
  return answers;
}

function repeat({ result, dropped }: Remembered, walk: ReceiveWalk): ReturnType<Check> {
  walk.dropped += dropped;
  // What exactly is wrong was said when it was found, unless that was while an alternative was tried.
  return result === refused ? refuse(walk, "does not fit its schema") : result;
}
