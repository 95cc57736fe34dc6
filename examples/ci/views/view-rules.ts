import type { ViewRule } from "surface-mcp";

/** What may change about the rules while agents are connected. */
export interface RuleChoices {
  /** Whether the reviewer may look at a single node, with its command. */
  readonly reviewerSeesNodes: boolean;
}

/** Who sees what: the first rule that fits decides. */
export function toViewRules({ reviewerSeesNodes }: RuleChoices): readonly ViewRule[] {
  return [
    {
      id: "reviewer",
      when: { surface: "readonly" },
      verdict: {
        kind: "tool_surface",
        readOnly: true,
        disallow: ["runners.*", ...(reviewerSeesNodes ? [] : ["node_show"])],
        instructions: "You look on. Say what you would do; you cannot do it.",
      },
    },
    {
      id: "executor",
      when: { surface: "executor" },
      verdict: { kind: "tool_surface", disallow: ["runners.*"], instructions: "You drive the run." },
    },
    { id: "hub", when: { surface: "hub" }, verdict: { kind: "tool_surface", face: "gateway" } },
    { id: "nobody", verdict: { kind: "deny", reason: "name a view: readonly, executor or hub" } },
  ];
}
