import type { MountContext } from "../../catalog/mount.ts";
import type { AgentStep } from "./agent-step.ts";

/** What is known of a run when its context is made. */
export interface AgentCall extends Pick<MountContext, "signal" | "caller"> {
  /** Names the run, here and in what its caller is answered: also where it begins again with what its client has answered. */
  readonly runId: string;
}

/** What an agent is run with, besides its input. */
export interface AgentContext<TContext> extends AgentCall, Pick<MountContext, "ask" | "call" | "log" | "addMeta"> {
  /** What the agent's `context` has made for this run alone. Made when it is first asked for. */
  readonly context: TContext;
  /** What the app has made for this call, by its `context()`. */
  readonly app: unknown;
  /** Tells a step, as `yield` does: for agents that are no generators. May be taken out of the context. */
  readonly step: (step: AgentStep) => void;
}
