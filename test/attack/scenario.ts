import type { Random } from "./random.ts";
import type { Target } from "./target.ts";

/** What a scenario is given. */
export interface Attack {
  /** A server of its own. */
  readonly target: Target;
  readonly random: Random;
  /** Requests that a random scenario sends. */
  readonly runs: number;
}

/** What a scenario found. No breaks: the server stood. */
export interface Finding {
  /** One line for the table: how much was tried. */
  readonly tried: string;
  readonly breaks: readonly string[];
}

/** One attack on a running server. */
export interface Scenario {
  readonly name: string;
  readonly run: (attack: Attack) => Promise<Finding>;
}
