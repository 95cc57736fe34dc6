import { SurfaceError } from "../errors.ts";
import { validate, validateInput, type Validated } from "../schema/validate.ts";
import type { MaybeSchema } from "./member.ts";
import { internalError, type FaultReporter } from "./fault.ts";

function acceptInput(checked: Validated, where: string): unknown {
  if (checked.ok) return checked.value;
  throw new SurfaceError("VALIDATION_ERROR", `Using ${where}: the input does not fit`, { issues: checked.issues });
}

/**
 * Validates an input, once, on the owner's side. Without a schema there is nothing to pass on. What the schema itself
 * throws is passed on as it is, for a caller who masks.
 *
 * @throws SurfaceError `VALIDATION_ERROR` with the issues.
 */
export function checkInput(schema: MaybeSchema, value: unknown, where: string): unknown {
  if (schema === undefined) return undefined;
  const checked = validateInput(schema, value);
  return checked instanceof Promise ? checked.then((late) => acceptInput(late, where)) : acceptInput(checked, where);
}

/** What {@link checkOutput} needs to know of where it stands. */
export interface OutputCheck {
  readonly where: string;
  readonly report: FaultReporter;
}

function acceptOutput(checked: Validated, check: OutputCheck): unknown {
  if (checked.ok) return checked.value;
  const cause = new SurfaceError(
    "INVALID_OUTPUT",
    `Cannot answer for ${check.where}: the value does not pass its schema`,
    {
      issues: checked.issues,
    },
  );
  const { correlationId } = internalError(cause, check.where, check.report);
  throw new SurfaceError("INVALID_OUTPUT", "the answer did not pass its own schema and was withheld", {
    ...(correlationId === undefined ? {} : { correlationId }),
    cause,
  });
}

/** Runs a schema, which is the author's code: what it throws is a fault of its own and no verdict on the value. */
function validateMasked(
  run: typeof validate,
  { schema, value }: { schema: Exclude<MaybeSchema, undefined>; value: unknown },
  check: OutputCheck,
): Validated | Promise<Validated> {
  const mask = (cause: unknown): never => {
    throw internalError(cause, check.where, check.report);
  };
  try {
    // No value is a promise. One that rejects, as an asynchronous source gives, would end the process.
    if (value instanceof Promise) value.catch((cause: unknown) => internalError(cause, check.where, check.report));
    const checked = run(schema, value);
    return checked instanceof Promise ? checked.catch(mask) : checked;
  } catch (cause) {
    return mask(cause);
  }
}

/**
 * {@link checkInput}, with what the schema itself throws masked.
 *
 * @throws SurfaceError `VALIDATION_ERROR` with the issues, `INTERNAL` when the schema failed.
 */
export function checkOwnedInput(schema: MaybeSchema, value: unknown, check: OutputCheck): unknown {
  if (schema === undefined) return undefined;
  const checked = validateMasked(validateInput, { schema, value }, check);
  return checked instanceof Promise
    ? checked.then((late) => acceptInput(late, check.where))
    : acceptInput(checked, check.where);
}

/**
 * Validates a value on its way out, once, on the owner's side. The issues go to the owner's log, not to the caller.
 *
 * @throws SurfaceError `INVALID_OUTPUT` with a correlation id, `INTERNAL` when the schema failed.
 */
export function checkOutput(schema: MaybeSchema, value: unknown, check: OutputCheck): unknown {
  if (schema === undefined) return value;
  const checked = validateMasked(validate, { schema, value }, check);
  return checked instanceof Promise ? checked.then((late) => acceptOutput(late, check)) : acceptOutput(checked, check);
}
