/**
 * One step of an agent's run, as it is told of. Of these kinds more is known: `llm_call_started` and `llm_call_completed`,
 * `tool_call_started` and `tool_call_completed`; any other text is one of its own.
 */
export interface AgentStep {
  readonly kind: string;
  /** What people are told of it, besides its kind. Default: what is known of its kind. */
  readonly message?: string;
  /** How many tokens the call of a model has taken, where that is known. Left out where it is not: what is not known is not 0. */
  readonly tokens?: number;
  /** How long it took, in milliseconds. */
  readonly latencyMs?: number;
  /** Which model was called. */
  readonly model?: string;
  /** Which tool was called. */
  readonly tool?: string;
  /** Whatever else programs may be told: JSON, at most 4 KiB with all of the above. */
  readonly [detail: string]: unknown;
}

/** The step in which the call of a model has ended, and its tokens are known. */
export const modelAnswered = "llm_call_completed";

/** A step that was told, as far as anything of it is one: authors who cast tell anything. Never throws. */
export function readStep(told: unknown): AgentStep | undefined {
  try {
    if (typeof told !== "object" || told === null) return undefined;
    // A copy: each member is read once, and none by whoever looks at it later.
    const step: Record<string, unknown> = { ...told };
    const { kind } = step;
    return typeof kind === "string" && kind !== "" ? { ...step, kind } : undefined;
  } catch {
    // It throws when it is looked at.
    return undefined;
  }
}
