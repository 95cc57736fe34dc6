import type { AgentProcess } from "./start-agent.ts";

/** Where the agent finds its face, and who else is there. Whoever opened it ends it. */
export interface House {
  /** What the agent's command line says of its face. */
  readonly face: readonly string[];
  /** Says who is there besides the coordinator, a line each. */
  introduce(agent: AgentProcess): Promise<readonly string[]>;
  /** The run is live. */
  onLive(): Promise<void>;
  /**
   * Shows what those have seen who looked on. The agent's work is done.
   *
   * @throws Error where it is not what was promised.
   */
  conclude(): Promise<void>;
  /** Ends whoever is left. Callable twice. */
  end(): Promise<void>;
}
