import { Refusal, SurfaceError } from "../errors.ts";
import type { Refused } from "./outcome.ts";

/** The id under which the author's log says why a tool was not there for another; `undefined` where it does not say. */
interface Told {
  readonly correlationId: string | undefined;
}

/** What handlers were told of tools that are not there for theirs. */
const unreached = new WeakMap<Refusal, Told>();

/** What a handler is told whose tool called one that is not there for it, or that says so itself. */
export function toUnreached({ code, message, details, correlationId }: Refused): Refusal {
  const refusal = new Refusal(code, message, details);
  unreached.set(refusal, { correlationId });
  return refusal;
}

/**
 * What it is when a handler lets through what it was told by {@link toUnreached}: a fault of its own. To whoever called its tool
 * the same words would say that this one does not exist. `undefined` for any other refusal.
 */
export function unreachedFault(refusal: Refusal): SurfaceError | undefined {
  const told = unreached.get(refusal);
  if (told === undefined) return undefined;
  const { correlationId } = told;
  return new SurfaceError("INTERNAL", "Calling a tool from another: it is not there for that one", {
    ...(correlationId === undefined ? {} : { correlationId }),
    cause: refusal,
  });
}
