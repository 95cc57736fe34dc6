import { SurfaceError } from "../errors.ts";

/** What is said of it: the application and its connection are as they were. */
const words = "the session of the client that was to be asked is ending: nobody can be asked in it any more";

/** What handlers were told whose clients could not be asked to the end. Links fail with the same code. */
const told = new WeakSet<SurfaceError>();

/** What a handler is told that asks a client whose session ends. */
export function toSessionOver(): SurfaceError {
  const error = new SurfaceError("DISCONNECTED", `Asking the client: ${words}`);
  told.add(error);
  return error;
}

/** What whoever called is told of such an error; `undefined` for any other. */
export function sessionOverWords(error: SurfaceError): string | undefined {
  return told.has(error) ? words : undefined;
}

/** The error again, of what a call within a call was refused with for it; `undefined` for any other refusal. */
export function sessionOverOf(code: string, message: string): SurfaceError | undefined {
  return code === "DISCONNECTED" && message.startsWith(words) ? toSessionOver() : undefined;
}
