import type { LogTail } from "./log-tail.ts";
import type { NodeState } from "./node-state.ts";
import type { Verdict } from "./verdict.ts";

/** One thing that an engine did. Plain JSON. What belongs together is one record, so that none can be half done. */
export type EngineRecord =
  /** A run began, or a rerun within it; `states` are those of the nodes that it queued. */
  | {
      readonly kind: "begun";
      readonly run: number;
      readonly strict: boolean;
      /** Milliseconds since the epoch. */
      readonly at: number;
      readonly states: readonly NodeState[];
    }
  /** Nodes changed, all at once. */
  | { readonly kind: "states"; readonly states: readonly NodeState[] }
  /** A command was started in a process group of its own; `born` tells the leader from later owners of its pid. */
  | { readonly kind: "command"; readonly node: string; readonly group: number; readonly born?: string | undefined }
  /** The whole log of a node that is about to end. */
  | { readonly kind: "log"; readonly log: LogTail }
  | { readonly kind: "verdict"; readonly verdict: Verdict }
  /** So many commands may run at once from now on. */
  | { readonly kind: "configured"; readonly parallel: number };

/**
 * Takes down what an engine does, in the order in which it does it and before anybody else hears of it. Synchronous: once
 * it returns, a sudden end of the process takes nothing back.
 */
export type EngineRecorder = (record: EngineRecord) => void;

/** What an engine that came to an end has left behind, as far as the next one goes on from it. */
export interface EngineMemory {
  /** The number of the current or last run; 0 before the first. */
  readonly run: number;
  readonly strict: boolean;
  /** What was under way; left out where nothing was. */
  readonly pass?: RememberedPass | undefined;
  /** Nodes whose command was cut short are `interrupted`. */
  readonly states: readonly NodeState[];
  readonly logs: readonly LogTail[];
  /** The verdicts of the run, oldest first. */
  readonly verdicts: readonly Verdict[];
  /** Left out where it was never configured. */
  readonly parallel?: number | undefined;
}

/** A stretch of work that was cut short. */
export interface RememberedPass {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Whether a node had failed in it, and whether that had been announced. */
  readonly red: "none" | "untold" | "told";
}

/** The memory of an engine that goes on from nothing. */
export const NO_MEMORY: EngineMemory = Object.freeze({ run: 0, strict: false, states: [], logs: [], verdicts: [] });
