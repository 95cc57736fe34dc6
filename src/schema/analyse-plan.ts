import { childPlans } from "./wire-plan.ts";
import type { WirePlan } from "./wire-plan.ts";

const codedKinds: ReadonlySet<string> = new Set(["date", "bigint", "map", "set"]);

/**
 * Sets `coded` and `plain` on every plan that can be reached from `root`. Both spread from children to parents until
 * nothing changes, which a recursive plan needs. `distrusted` plans are never plain.
 */
export function analysePlan(root: WirePlan, distrusted: ReadonlySet<WirePlan>): void {
  const plans = reach(root);
  for (const plan of plans.keys()) {
    if (plan.kind === "any") continue;
    plan.coded = codedKinds.has(plan.kind);
    plan.plain = !plan.coded && !distrusted.has(plan);
  }
  let changed = true;
  while (changed) {
    changed = false;
    // Children come after their parents, so going backwards settles all but recursive plans in one pass.
    for (const [plan, children] of [...plans].toReversed()) changed = settle(plan, children) || changed;
  }
}

function settle(plan: WirePlan, children: readonly WirePlan[]): boolean {
  if (plan.kind === "any") return false;
  const coded = plan.coded || children.some((child) => child.coded);
  const plain = plan.plain && children.every((child) => child.plain || isUnreachable(plan, child));
  const changed = coded !== plan.coded || plain !== plan.plain;
  plan.coded = coded;
  plan.plain = plain;
  return changed;
}

// The rest of a closed object or tuple is never looked at.
function isUnreachable(plan: WirePlan, child: WirePlan): boolean {
  if (plan.kind === "record") return plan.closed && child === plan.rest() && !isNamed(plan, child);
  return plan.kind === "list" && plan.max <= plan.prefix.length && !plan.prefix.some((item) => item() === child);
}

function isNamed(plan: WirePlan & { kind: "record" }, child: WirePlan): boolean {
  if ([...plan.properties.values()].some((property) => property() === child)) return true;
  return plan.patterns.some((pattern) => pattern.plan() === child);
}

function reach(root: WirePlan): Map<WirePlan, readonly WirePlan[]> {
  const plans = new Map<WirePlan, readonly WirePlan[]>();
  const queue = [root];
  for (const plan of queue) {
    if (plans.has(plan)) continue;
    const children = childPlans(plan);
    plans.set(plan, children);
    queue.push(...children);
  }
  return plans;
}
