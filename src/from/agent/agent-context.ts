import type { MountContext } from "../../catalog/mounts/mount.ts";

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

/** The kind of the step that ends a model call and has its tokens. */
export const modelAnswered = "llm_call_completed";

/** Returns a copy of a step; `undefined` for a value that is none. Never throws. */
export function readStep(told: unknown): AgentStep | undefined {
  try {
    if (typeof told !== "object" || told === null) return undefined;
    const step: Record<string, unknown> = { ...told };
    const { kind } = step;
    return typeof kind === "string" && kind !== "" ? { ...step, kind } : undefined;
  } catch {
    // A getter that throws.
    return undefined;
  }
}

/** A run, before its context exists. */
export interface AgentCall extends Pick<MountContext, "signal" | "caller"> {
  /** Names the run, here and in `_meta` of its result; the same when the run starts again with answers of the client. */
  readonly runId: string;
}

/** The second argument of `run`. */
export interface AgentContext<TContext> extends AgentCall, Pick<MountContext, "ask" | "call" | "log" | "addMeta"> {
  /** The result of the agent's `context` for this run, created at first use. */
  readonly context: TContext;
  /** The result of the app's `context()` for this call. */
  readonly app: unknown;
  /** Reports a step, as `yield` does. Can be destructured. */
  readonly step: (step: AgentStep) => void;
}
