import type { AppDefinition } from "./app-definition.ts";

/** Since when there may be a gateway: by the rules that are there, or by others that their source may have later. */
export type GatewayChance = "now" | "later";

/**
 * Whether there is a view that shows the tools of a gateway, or may ever be one: the rules of a source are others some day, and
 * what they need is not to be taken then.
 */
export function mayBeGateway(views: AppDefinition["views"]): GatewayChance | undefined {
  if (views === undefined) return undefined;
  if ("get" in views) return "later";
  const isThere = views.some(({ rules }) =>
    rules.some(({ verdict }) => verdict.kind === "tool_surface" && verdict.face === "gateway"),
  );
  return isThere ? "now" : undefined;
}
