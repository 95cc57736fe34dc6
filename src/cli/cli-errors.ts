import { Refusal } from "../errors.ts";

const usageCode = "USAGE";

/** Creates the error of a command line that no command understands. */
export function usage(message: string): Refusal {
  return new Refusal(usageCode, message);
}

/** Creates the error of a command that is understood and refused, with nothing changed. */
export function refused(message: string): Refusal {
  return new Refusal("REFUSED", message);
}

/** Creates the error of a server name that a file has already. */
export function taken(alias: string): Refusal {
  return refused(`it already has a server "${alias}"; run with "--remove ${alias}" first, or pass another "--name"`);
}

/** Returns whether an error is about the command line. */
export function isUsage(error: unknown): boolean {
  return error instanceof Refusal && error.code === usageCode;
}
