/**
 * Arguments that the tools of some kinds take besides the member's own input. A member whose input has a field of the
 * same name cannot be a tool: the agent could not say which one it means.
 */
export const syntheticFields = {
  event: ["since", "timeout_ms"],
  stream: ["max_items", "wait_ms"],
} as const;

/** The synthetic arguments of a kind's tools; `never` for kinds that have none. */
export type SyntheticField<TKind> = TKind extends keyof typeof syntheticFields
  ? (typeof syntheticFields)[TKind][number]
  : never;
