import { toList } from "./json.ts";
import { typesOf, valuesOf } from "./keywords.ts";
import { isNode, tidyNode } from "./schema-document.ts";
import type { SchemaDocument, SchemaNode } from "./schema-document.ts";
import { wireKey } from "./wire-forms.ts";
import { anyPlan, codedKinds, planOfItem, planOfProperty } from "./wire-plan.ts";
import type { LazyPlan, ListPlan, RecordPlan, ScalarPlan, WirePlan } from "./wire-plan.ts";

interface Compiler {
  readonly document: SchemaDocument;
  readonly made: Map<unknown, WirePlan>;
  readonly making: Set<unknown>;
  readonly distrusted: Set<WirePlan>;
}

const objectKeywords = ["properties", "patternProperties", "additionalProperties", "required", "propertyNames"];
const arrayKeywords = ["items", "prefixItems", "contains"];
/** The flags before the plan is analysed: no plan is taken for JSON. */
const unknownFlags: Pick<WirePlan, "coded" | "plain"> = { coded: true, plain: false };
const lazyAny: LazyPlan = () => anyPlan;
/** The rest of a closed object or tuple, which a valid value does not have. */
const nothingPlan: WirePlan = Object.freeze({ kind: "any", coded: false, plain: true });
const lazyNothing: LazyPlan = () => nothingPlan;
// The arms of two unions multiply; beyond this the second is not distributed.
const maxArms = 64;
// Recursive plans of different periods unfold when they merge. Below this depth the first one decides.
const maxDepth = 16;
// Recursive plans merge the same two plans again, which gives the same merged plan.
const merged = new WeakMap<WirePlan, WeakMap<WirePlan, WirePlan>>();

/**
 * Compiles the wire plan of a document. Follows references instead of writing them out, so a date below a recursive node is found
 * at every depth. `normalise` must have accepted the document.
 */
export function compilePlan(document: SchemaDocument): WirePlan {
  const compiler: Compiler = { document, made: new Map(), making: new Set(), distrusted: new Set() };
  const plan = compile(compiler, document.root, document.base);
  analysePlan(plan, compiler.distrusted);
  return plan;
}

function compile(compiler: Compiler, raw: unknown, outer: SchemaNode): WirePlan {
  if (!isNode(raw)) return anyPlan;
  const made = compiler.made.get(raw);
  if (made !== undefined) return made;
  // A node that refers to itself without a property or an item between constrains nothing.
  if (compiler.making.has(raw)) return anyPlan;
  compiler.making.add(raw);
  const plan = compileNode(compiler, raw, typeof raw["$id"] === "string" ? raw : outer);
  compiler.making.delete(raw);
  compiler.made.set(raw, plan);
  return plan;
}

function compileNode(compiler: Compiler, raw: SchemaNode, base: SchemaNode): WirePlan {
  const node = tidyNode(raw);
  const parts: WirePlan[] = [ownPlan(compiler, node, base)];
  const ref = node["$ref"] ?? node["$dynamicRef"];
  if (typeof ref === "string") {
    const target = compiler.document.resolve(ref, base);
    parts.push(compile(compiler, target.node, target.base));
  }
  parts.push(...toList(node["allOf"]).map((part) => compile(compiler, part, base)));
  for (const key of ["anyOf", "oneOf"]) {
    const arms = toList(node[key]);
    if (arms.length > 0) parts.push(unionOf(arms.map((arm) => compile(compiler, arm, base))));
  }
  const plan = parts.reduce((first, second) => mergePlans(first, second));
  if (node[wireKey] === "checked") compiler.distrusted.add(plan);
  return plan;
}

function ownPlan(compiler: Compiler, node: SchemaNode, base: SchemaNode): WirePlan {
  const lazily = (raw: unknown): LazyPlan => once(() => compile(compiler, raw, base));
  const form = node[wireKey];
  if (form === "date" || form === "bigint") return { kind: form, ...unknownFlags };
  if (form === "set") return { kind: "set", item: lazily(node["items"]), ...unknownFlags };
  if (form === "map") {
    const [key, value] = toList(isNode(node["items"]) ? node["items"]["prefixItems"] : undefined);
    return { kind: "map", key: lazily(key), value: lazily(value), ...unknownFlags };
  }
  return unionOf(armsByType(node, lazily));
}

function armsByType(node: SchemaNode, lazily: (raw: unknown) => LazyPlan): WirePlan[] {
  const types = typesOf(node);
  const values = valuesOf(node);
  if (values !== undefined) return [{ kind: "scalar", types, values, ...unknownFlags }];
  const has = (name: string, keywords: readonly string[]): boolean => {
    return types === undefined ? keywords.some((key) => node[key] !== undefined) : types.includes(name);
  };
  const arms: WirePlan[] = [];
  if (has("object", objectKeywords)) arms.push(recordPlan(node, lazily));
  if (has("array", arrayKeywords)) arms.push(listPlan(node, lazily));
  // Without a type, values that are neither object nor array are not constrained.
  if (types === undefined) return arms.length === 0 ? [] : [...arms, anyPlan];
  const scalars = types.filter((name) => name !== "object" && name !== "array");
  if (scalars.length > 0) arms.push({ kind: "scalar", types: scalars, values: undefined, ...unknownFlags });
  return arms;
}

function recordPlan(node: SchemaNode, lazily: (raw: unknown) => LazyPlan): WirePlan {
  const { properties, patternProperties, additionalProperties: rest } = node;
  const patterns = Object.entries(isNode(patternProperties) ? patternProperties : {});
  return {
    kind: "record",
    properties: new Map(Object.entries(isNode(properties) ? properties : {}).map(([key, raw]) => [key, lazily(raw)])),
    patterns: patterns.map(([source, raw]) => ({ pattern: new RegExp(source, "u"), plan: lazily(raw) })),
    rest: isNode(rest) ? lazily(rest) : rest === false ? lazyNothing : lazyAny,
    closed: rest === false,
    required: toList(node["required"]).map(String),
    ...unknownFlags,
  };
}

function listPlan(node: SchemaNode, lazily: (raw: unknown) => LazyPlan): WirePlan {
  const { minItems, maxItems, items } = node;
  const prefix = toList(node["prefixItems"]).map(lazily);
  const max = typeof maxItems === "number" ? maxItems : Number.POSITIVE_INFINITY;
  const rest = isNode(items) ? lazily(items) : lazyAny;
  return {
    kind: "list",
    prefix,
    rest: max <= prefix.length ? lazyNothing : rest,
    min: typeof minItems === "number" ? minItems : 0,
    max,
    ...unknownFlags,
  };
}

/**
 * Sets `coded` and `plain` on every plan that can be reached from `root`. Both spread from children to parents until
 * nothing changes, which a recursive plan needs. `distrusted` plans are never plain.
 */
function analysePlan(root: WirePlan, distrusted: ReadonlySet<WirePlan>): void {
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
  const plain = plan.plain && children.every((child) => child.plain);
  const changed = coded !== plan.coded || plain !== plan.plain;
  plan.coded = coded;
  plan.plain = plain;
  return changed;
}

/** Lists the plans that can be reached from one, parents first. */
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

/** Lists the plans directly below a plan. */
function childPlans(plan: WirePlan): readonly WirePlan[] {
  switch (plan.kind) {
    case "list":
      return [...plan.prefix, plan.rest].map((child) => child());
    case "record":
      return [...plan.properties.values(), ...plan.patterns.map((each) => each.plan), plan.rest].map((child) =>
        child(),
      );
    case "map":
      return [plan.key(), plan.value()];
    case "set":
      return [plan.item()];
    case "union":
      return plan.arms;
    default:
      return [];
  }
}

/**
 * Merges the plans of a value that fits both, below an `allOf` or a `$ref` with siblings. The plan of anything gives way; objects
 * and arrays merge part by part; unions distribute; otherwise the plan with a wire form decides.
 */
function mergePlans(first: WirePlan, second: WirePlan, depth = 0): WirePlan {
  if (first === nothingPlan) return second;
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
  return codedKinds.has(first.kind) ? first : second;
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
  const merge = (index: number) => mergePlans(planOfItem(first, index), planOfItem(second, index), depth + 1);
  return {
    kind: "list",
    prefix: Array.from({ length }, (_, index) => once(() => merge(index))),
    rest: once(() => mergePlans(first.rest(), second.rest(), depth + 1)),
    min: Math.max(first.min, second.min),
    max: Math.min(first.max, second.max),
    ...unknownFlags,
  };
}

/** Creates a plan on first use and keeps it. */
function once(make: () => WirePlan): LazyPlan {
  let made: WirePlan | undefined;
  return () => (made ??= make());
}

/** Returns the union of plans: of one plan that plan, of none the plan of anything. */
function unionOf(arms: readonly WirePlan[]): WirePlan {
  const [only = anyPlan] = arms;
  return arms.length < 2 ? only : { kind: "union", arms, ...unknownFlags };
}
