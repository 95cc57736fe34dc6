import { assertKnownOptions } from "../tags/assert-known-options.ts";
import { SurfaceError } from "../errors.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";

/** What `.confirm()` was told. */
export interface GivenConfirm {
  readonly which: unknown;
  readonly options: unknown;
}

const rules: readonly unknown[] = ["refuse", "allow"] satisfies readonly ConfirmRule[];

function isRule(value: unknown): value is "refuse" | "allow" {
  return rules.includes(value);
}

function refuse(what: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `Calling confirm(): ${what}`);
}

/**
 * What becomes of the calls of clients that cannot ask their user.
 *
 * @param known - what was said before.
 * @throws SurfaceError `INVALID_OPTION`, also where it was said already.
 */
export function readConfirm(known: ConfirmRule | undefined, { which, options }: GivenConfirm): ConfirmRule {
  if (known !== undefined) throw refuse("it was called already; once is enough");
  if (which !== "mutating") throw refuse('what users confirm must be "mutating": tools that may change something');
  if (options === undefined) return "refuse";
  assertKnownOptions(options, ["otherwise"], "Calling confirm()");
  const { otherwise = "refuse" }: { readonly otherwise?: unknown } = options;
  if (!isRule(otherwise)) throw refuse('"otherwise" must be "refuse" or "allow"');
  return otherwise;
}
