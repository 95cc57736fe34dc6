import { Refusal } from "../errors.ts";

const usageCode = "USAGE";

/** What to throw where a command line says something that no command takes. */
export function usage(message: string): Refusal {
  return new Refusal(usageCode, message);
}

/** What to throw where a command is clear, and what it asks for is not done: nothing has been changed. */
export function refused(message: string): Refusal {
  return new Refusal("REFUSED", message);
}

/** What to throw where a file has a server of that name. */
export function taken(alias: string): Refusal {
  return refused(`"${alias}" is in it already: give "--remove ${alias}" first, or another "--name"`);
}

/** Whether it is the command line that is wrong. */
export function isUsage(error: unknown): boolean {
  return error instanceof Refusal && error.code === usageCode;
}
