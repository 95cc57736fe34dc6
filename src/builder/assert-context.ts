import { SurfaceError } from "../errors.ts";
import type { AppDefinition } from "./app-definition.ts";

/**
 * Refuses a factory of what handlers have of their own where it is none, where there is one already, and where handlers are there
 * that were written without it.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertContext(definition: AppDefinition, factory: unknown): void {
  const { context, tools, prompts, resources } = definition;
  const refuse = (what: string): SurfaceError => new SurfaceError("INVALID_OPTION", `Calling context(): ${what}`);
  if (typeof factory !== "function") {
    throw refuse("it takes a function that makes what handlers have of their own, for each call");
  }
  if (context !== undefined) throw refuse("it was called already; once is enough");
  if (tools.size + prompts.size + resources.size > 0) {
    throw refuse("there are handlers that were written without it; call it before tools(), prompts() and resources()");
  }
}
