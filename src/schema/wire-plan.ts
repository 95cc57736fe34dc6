import type { JsonValue } from "./json.ts";

/** A part of a plan that is made when it is first needed, so that a recursive schema has a finite plan. */
export type LazyPlan = () => WirePlan;

interface PlanFlags {
  /** True when decoding changes something here or below. Set once the whole plan is known. */
  coded: boolean;
  /** True when a validated value is JSON all the way down, so that `JSON.stringify` says everything. Set likewise. */
  plain: boolean;
}

/** Any JSON value: nothing is known, so encoding looks at everything. */
export interface AnyPlan extends PlanFlags {
  readonly kind: "any";
}

/** A JSON scalar. `values` are the only ones, `types` the JSON types; undefined means all. */
export interface ScalarPlan extends PlanFlags {
  readonly kind: "scalar";
  readonly types: readonly string[] | undefined;
  readonly values: readonly JsonValue[] | undefined;
}

/** A value with a wire form that is a string. */
export interface CodedPlan extends PlanFlags {
  readonly kind: "date" | "bigint";
}

/** An array or a tuple. */
export interface ListPlan extends PlanFlags {
  readonly kind: "list";
  readonly prefix: readonly LazyPlan[];
  readonly rest: LazyPlan;
  readonly min: number;
  readonly max: number;
}

/** An object. `closed` says that a key without a plan of its own cannot be there. */
export interface RecordPlan extends PlanFlags {
  readonly kind: "record";
  readonly properties: ReadonlyMap<string, LazyPlan>;
  readonly patterns: readonly { readonly pattern: RegExp; readonly plan: LazyPlan }[];
  readonly rest: LazyPlan;
  readonly closed: boolean;
  readonly required: readonly string[];
}

/** A `Map`. */
export interface MapPlan extends PlanFlags {
  readonly kind: "map";
  readonly key: LazyPlan;
  readonly value: LazyPlan;
}

/** A `Set`. */
export interface SetPlan extends PlanFlags {
  readonly kind: "set";
  readonly item: LazyPlan;
}

/** One of several. A value takes the first arm that fits it. */
export interface UnionPlan extends PlanFlags {
  readonly kind: "union";
  readonly arms: readonly WirePlan[];
}

/** Which nodes of a schema hold values that JSON does not have: what encoding and decoding follow. */
export type WirePlan = AnyPlan | ScalarPlan | CodedPlan | ListPlan | RecordPlan | MapPlan | SetPlan | UnionPlan;

/** Flags before the plan is analysed: the careful answer for both. */
export const unknownFlags: PlanFlags = { coded: true, plain: false };

/** The plan of anything. Shared, and never analysed: its flags are final. */
export const anyPlan: AnyPlan = Object.freeze({ kind: "any", coded: false, plain: false });

/** A lazy {@link anyPlan}. */
export const lazyAny: LazyPlan = () => anyPlan;

/** Finds the plan of a property. */
export function planOfProperty(plan: RecordPlan, key: string): WirePlan {
  const own = plan.properties.get(key);
  if (own !== undefined) return own();
  const matching = plan.patterns.find(({ pattern }) => pattern.test(key));
  return (matching?.plan ?? plan.rest)();
}

/** Lists the plans directly below a plan. */
export function childPlans(plan: WirePlan): readonly WirePlan[] {
  switch (plan.kind) {
    case "list":
      return [...plan.prefix, plan.rest].map((child) => child());
    case "record":
      return [...plan.properties.values(), ...plan.patterns.map(({ plan: child }) => child), plan.rest].map((child) =>
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
