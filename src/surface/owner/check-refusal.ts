import { Refusal } from "../../errors.ts";
import { checkOutput, type OutputCheck } from "../check-value.ts";
import { maskFault } from "../fault.ts";
import type { MaybeSchema } from "../member.ts";

/** The codes that a procedure declares, each with the schema of its details where there is one. */
type DeclaredErrors = Readonly<Record<string, MaybeSchema>>;

async function checkDetails(refusal: Refusal, declared: DeclaredErrors, check: OutputCheck): Promise<Refusal> {
  const { code, message, details } = refusal;
  const schema = Object.hasOwn(declared, code) ? declared[code] : undefined;
  if (schema === undefined) return refusal;
  const where = `${check.where}, refusing with "${code}"`;
  try {
    return new Refusal(code, message, await checkOutput(schema, details, { ...check, where }));
  } catch {
    // Reported by the check. What the handler wanted to say is said all the same.
    return new Refusal(code, message);
  }
}

/**
 * Validates the details of a refusal whose code is declared with a schema; those that do not fit are withheld and the
 * fault is reported. Any other refusal, and any other error, is returned as it is. Never rejects.
 */
export async function checkRefusal(failure: Error, declared: DeclaredErrors, check: OutputCheck): Promise<Error> {
  try {
    return failure instanceof Refusal ? await checkDetails(failure, declared, check) : failure;
  } catch (cause) {
    // A refusal of another class may have getters that throw.
    return maskFault(cause, check.where, check.report);
  }
}
