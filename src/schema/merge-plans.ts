import { anyPlan, planOfProperty, unknownFlags } from "./wire-plan.ts";
import type { LazyPlan, ListPlan, RecordPlan, ScalarPlan, WirePlan } from "./wire-plan.ts";

// The arms of two unions multiply; beyond this the second is not distributed.
const maxArms = 64;
// Merging recursive plans of different periods unfolds them: beyond this depth the first one decides.
const maxDepth = 16;
const uncodedKinds: ReadonlySet<string> = new Set(["scalar", "list", "record"]);
// Recursive plans come back to the same two plans: the same merged plan then closes the circle.
const merged = new WeakMap<WirePlan, WeakMap<WirePlan, WirePlan>>();

/**
 * The plan of a value that fits both plans, as an `allOf` asks for, or a `$ref` with siblings. Plans that say nothing
 * give way; objects and arrays merge part by part; unions distribute; otherwise the one with a wire form decides.
 */
export function mergePlans(first: WirePlan, second: WirePlan, depth = 0): WirePlan {
  if (first === second || second.kind === "any" || depth > maxDepth) return first;
  if (first.kind === "any") return second;
  const known = merged.get(first)?.get(second);
  if (known !== undefined) return known;
  const plan = mergeKinds(first, second, depth);
  const bySecond = merged.get(first) ?? new WeakMap<WirePlan, WirePlan>();
  merged.set(first, bySecond.set(second, plan));
  return plan;
}

function mergeKinds(first: WirePlan, second: WirePlan, depth: number): WirePlan {
  if (first.kind === "union") return distribute(first.arms, second, depth);
  if (second.kind === "union") return distribute(second.arms, first, depth);
  if (first.kind === "record" && second.kind === "record") return mergeRecords(first, second, depth);
  if (first.kind === "list" && second.kind === "list") return mergeLists(first, second, depth);
  if (first.kind === "scalar" && second.kind === "scalar") return mergeScalars(first, second);
  return uncodedKinds.has(first.kind) ? second : first;
}

function mergeScalars(first: ScalarPlan, second: ScalarPlan): ScalarPlan {
  return { ...first, types: first.types ?? second.types, values: first.values ?? second.values };
}

function distribute(arms: readonly WirePlan[], other: WirePlan, depth: number): WirePlan {
  const others = other.kind === "union" ? other.arms : [other];
  if (arms.length * others.length > maxArms) return { kind: "union", arms, ...unknownFlags };
  const products = arms.flatMap((arm) => others.map((plan) => mergePlans(arm, plan, depth + 1)));
  return { kind: "union", arms: products, ...unknownFlags };
}

function mergeRecords(first: RecordPlan, second: RecordPlan, depth: number): RecordPlan {
  const names = new Set([...first.properties.keys(), ...second.properties.keys()]);
  const merge = (name: string) => mergePlans(planOfProperty(first, name), planOfProperty(second, name), depth + 1);
  return {
    kind: "record",
    properties: new Map([...names].map((name) => [name, once(() => merge(name))])),
    patterns: [...first.patterns, ...second.patterns],
    rest: once(() => mergePlans(first.rest(), second.rest(), depth + 1)),
    closed: first.closed && second.closed,
    required: [...first.required, ...second.required],
    ...unknownFlags,
  };
}

function mergeLists(first: ListPlan, second: ListPlan, depth: number): ListPlan {
  const length = Math.max(first.prefix.length, second.prefix.length);
  const at = (plan: ListPlan, index: number): WirePlan => (plan.prefix[index] ?? plan.rest)();
  const merge = (index: number) => mergePlans(at(first, index), at(second, index), depth + 1);
  return {
    kind: "list",
    prefix: Array.from({ length }, (_, index) => once(() => merge(index))),
    rest: once(() => mergePlans(first.rest(), second.rest(), depth + 1)),
    min: Math.max(first.min, second.min),
    max: Math.min(first.max, second.max),
    ...unknownFlags,
  };
}

/** Makes a plan on first use and keeps it. */
export function once(make: () => WirePlan): LazyPlan {
  let made: WirePlan | undefined;
  return () => (made ??= make());
}

/** A union of plans; of one plan it is that plan, of none anything. */
export function unionOf(arms: readonly WirePlan[]): WirePlan {
  const [only = anyPlan] = arms;
  return arms.length < 2 ? only : { kind: "union", arms, ...unknownFlags };
}
