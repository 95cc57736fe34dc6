import type { AppDefinition } from "./app-definition.ts";

/**
 * Whether there is a view that shows the tools of a gateway, or may ever be one: the rules of a source are others some day, and
 * what they need is not to be taken then.
 */
export function mayBeGateway(views: AppDefinition["views"]): boolean {
  if (views === undefined) return false;
  if ("get" in views) return true;
  return views.some(({ rules }) =>
    rules.some(({ verdict }) => verdict.kind === "tool_surface" && verdict.face === "gateway"),
  );
}
