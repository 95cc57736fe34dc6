import { SurfaceError } from "../errors.ts";

/**
 * What a handler let through that would be read as being about its caller's arguments: it is about what the handler said,
 * which is its own fault and may name what the caller cannot see. Everything else is as it was thrown.
 */
export function toHandlerFault(cause: unknown, where: string): unknown {
  try {
    if (!(cause instanceof SurfaceError) || cause.code !== "VALIDATION_ERROR") return cause;
  } catch {
    // A trap of what was thrown.
    return cause;
  }
  return new SurfaceError("INTERNAL", `Running ${where}: its handler used something in a way that does not fit`, {
    cause,
  });
}

/** Runs a handler, synchronous or not. @throws what it throws, as {@link toHandlerFault} has it. */
export async function runHandler<TValue>(run: () => TValue | Promise<TValue>, where: string): Promise<TValue> {
  try {
    return await run();
  } catch (cause) {
    throw toHandlerFault(cause, where);
  }
}
