import { randomUUID } from "node:crypto";
import { defaultPartLimits } from "../mcp/large-values.ts";
import { Budget, type BudgetUse, type OverBudget } from "../spine/budget.ts";
import type { FaultReporter } from "../surface/fault.ts";

const mebibyte = 1024 * 1024;

/** Bounds of one thing that callers can make the server hold. */
export interface LimitOptions {
  /** Bound of all callers together. */
  readonly total?: number;
  /** Bound of one caller, or of one address if the caller is not known. */
  readonly perCaller?: number;
}

/** Defaults of the option `limits`. */
export const defaultLimits: ResolvedLimits = Object.freeze({
  unreadBytes: { total: 64 * mebibyte, perCaller: 16 * mebibyte },
  bodyBytes: { total: 64 * mebibyte, perCaller: 16 * mebibyte },
  logBytes: { total: 64 * mebibyte, perCaller: 16 * mebibyte },
  partBytes: { total: defaultPartLimits.total, perCaller: defaultPartLimits.perKey },
  verifications: { total: 256, perCaller: 32 },
  knownVerifications: { total: 256, perCaller: 64 },
  connections: { total: 4096, perCaller: 1024 },
});

/** Name of something that callers can make the server hold. */
export type LimitName =
  | ("unreadBytes" | "bodyBytes" | "logBytes" | "partBytes")
  | ("verifications" | "knownVerifications" | "connections");

/** Bounds of what callers can make the server hold: see `docs/guide/limits.md`. */
export type HttpLimits = { readonly [TName in LimitName]?: LimitOptions };

/** The bounds in force. */
export type ResolvedLimits = Readonly<Record<LimitName, Required<LimitOptions>>>;

/** The budgets of one server. */
export type HttpBudgets = Readonly<Record<LimitName, Budget>>;

/** Creates a value for each limit. */
export function forEachLimit<TValue>(create: (name: LimitName) => TValue): Readonly<Record<LimitName, TValue>> {
  // The keys of the defaults are the names.
  const names = Object.keys(defaultLimits) as LimitName[];
  // A value for each name.
  return Object.fromEntries(names.map((name) => [name, create(name)])) as Record<LimitName, TValue>;
}

/** Fills in the defaults. A caller's bound never exceeds the total. */
export function resolveLimits(limits: HttpLimits = {}): ResolvedLimits {
  return forEachLimit((name) => {
    const total = limits[name]?.total ?? defaultLimits[name].total;
    return { total, perCaller: Math.min(total, limits[name]?.perCaller ?? defaultLimits[name].perCaller) };
  });
}

/** Reports the first time that a bound is reached. One line: it is no fault, and callers could fill the log. */
function createReporter(name: LimitName, report: FaultReporter): (over: OverBudget) => void {
  let isReported = false;
  return ({ scope, limit }) => {
    if (isReported) return;
    isReported = true;
    const which = scope === "global" ? "total" : "perCaller";
    const cause = `the limit of ${limit} is reached; change it with the option "limits.${name}.${which}" (reported once)`;
    report({ correlationId: randomUUID(), where: `the limits of the HTTP server: ${name}`, cause });
  };
}

/** Creates the budgets of one server. */
export function createBudgets(limits: ResolvedLimits, report: FaultReporter): HttpBudgets {
  return forEachLimit((name) => {
    const { total, perCaller: perKey } = limits[name];
    return new Budget({ total, perKey }, createReporter(name, report));
  });
}

/** Current state of every limit; `schemaBytes` counts the schemas of mounted operations, and is no option. */
export type LimitUse = Readonly<Record<LimitName | "schemaBytes", BudgetUse>>;

/** Reads the current state of every budget. */
export function readUse(budgets: HttpBudgets, schemaBytes: Budget): LimitUse {
  return { ...forEachLimit((name) => budgets[name].use), schemaBytes: schemaBytes.use };
}
