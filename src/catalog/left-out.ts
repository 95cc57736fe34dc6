import { SurfaceError } from "../errors.ts";

/**
 * What the author is told of something that is left out: a line that says so. Where what is wrong with it is ours to say, what led
 * there is no help, and its stack is left away; anything else comes along as it was thrown.
 */
export function leftOut(cause: unknown, where: string): SurfaceError {
  if (cause instanceof SurfaceError) {
    const { code, issues } = cause;
    return bare(new SurfaceError(code, `${cause.message}; it is left out`, { issues }));
  }
  return bare(
    new SurfaceError("INVALID_OPTION", `Reading what ${where} has: it cannot be read; it is left out`, { cause }),
  );
}

function bare(error: SurfaceError): SurfaceError {
  error.stack = `${error.name}: ${error.message}`;
  return error;
}
