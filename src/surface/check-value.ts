import { SurfaceError } from "../errors.ts";
import { validate, validateInput, type Validated } from "../schema/validate.ts";
import { internalError, type FaultReporter } from "./fault.ts";
import type { MaybeSchema } from "./member.ts";

/** The place of a value in messages, and the reporter of its faults. */
export interface OutputCheck {
  readonly where: string;
  readonly report: FaultReporter;
}

function acceptInput(checked: Validated, where: string): unknown {
  if (checked.ok) return checked.value;
  throw new SurfaceError("VALIDATION_ERROR", `Cannot use ${where}: the input does not fit`, { issues: checked.issues });
}

function acceptOutput(checked: Validated, { where, report }: OutputCheck): unknown {
  if (checked.ok) return checked.value;
  const { issues } = checked;
  const message = `Cannot answer for ${where}: the value does not pass its schema`;
  const cause = new SurfaceError("INVALID_OUTPUT", message, { issues });
  const { correlationId } = internalError(cause, where, report);
  throw new SurfaceError("INVALID_OUTPUT", "the answer did not pass its own schema and was withheld", {
    ...(correlationId === undefined ? {} : { correlationId }),
    cause,
  });
}

/** Validates an input; `undefined` without a schema. Does not mask what the schema throws. @throws SurfaceError `VALIDATION_ERROR`. */
export function checkInput(schema: MaybeSchema, value: unknown, where: string): unknown {
  if (schema === undefined) return undefined;
  const checked = validateInput(schema, value);
  return checked instanceof Promise ? checked.then((late) => acceptInput(late, where)) : acceptInput(checked, where);
}

/** Runs a schema, which is the author's code, and masks what it throws. */
function validateMasked(
  run: typeof validate,
  { schema, value }: { schema: Exclude<MaybeSchema, undefined>; value: unknown },
  { where, report }: OutputCheck,
): Validated | Promise<Validated> {
  const mask = (cause: unknown): never => {
    throw internalError(cause, where, report);
  };
  try {
    // A promise is never a value. One that rejects, from an asynchronous source, would end the process.
    if (value instanceof Promise) value.catch((cause: unknown) => internalError(cause, where, report));
    const checked = run(schema, value);
    return checked instanceof Promise ? checked.catch(mask) : checked;
  } catch (cause) {
    return mask(cause);
  }
}

/** Validates an input, and masks what the schema throws. @throws SurfaceError `VALIDATION_ERROR` with the issues, or `INTERNAL`. */
export function checkInputMasked(schema: MaybeSchema, value: unknown, check: OutputCheck): unknown {
  if (schema === undefined) return undefined;
  const checked = validateMasked(validateInput, { schema, value }, check);
  const { where } = check;
  return checked instanceof Promise ? checked.then((late) => acceptInput(late, where)) : acceptInput(checked, where);
}

/** Validates a value on its way out; the issues go to the log. @throws SurfaceError `INVALID_OUTPUT` with its correlation id, `INTERNAL`. */
export function checkOutput(schema: MaybeSchema, value: unknown, check: OutputCheck): unknown {
  if (schema === undefined) return value;
  const checked = validateMasked(validate, { schema, value }, check);
  return checked instanceof Promise ? checked.then((late) => acceptOutput(late, check)) : acceptOutput(checked, check);
}
