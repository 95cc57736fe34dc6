import type { EngineMemory, EngineRecorder } from "./engine-record.ts";
import type { LogTail } from "./log-tail.ts";
import type { NodeState } from "./node-state.ts";
import type { RunFiles } from "./run-files.ts";
import type { Source } from "./source.ts";
import type { Verdict } from "./verdict.ts";

/** Options of `createEngine`. */
export interface EngineOptions {
  /** How many commands run at once, at least 1. Default 2. */
  readonly parallel?: number;
  /** Bytes of log kept a node, at least 1. Default 65,536. */
  readonly logBytes?: number;
  /** Milliseconds between SIGTERM and SIGKILL. Default 2,000. */
  readonly graceMs?: number;
  /** Where folders are made for a moment each; a kill may leave one. Default: the system's. */
  readonly temporaryDir?: string;
  /** Takes down what the engine does. Default: nobody does. */
  readonly record?: EngineRecorder;
  /** Keeps each node's log beyond the end of the process. Default: nothing does. */
  readonly files?: RunFiles;
  /** What to go on from. Default: from nothing. */
  readonly memory?: EngineMemory;
}

/** The current run, or the last one. */
export interface RunState {
  /** 0 before the first. */
  readonly run: number;
  /** Whether it is in progress. */
  readonly active: boolean;
  /** Whether it starts nothing new once a node has failed. */
  readonly strict: boolean;
}

/** A pipeline that can be run, and run again, and watched. */
export interface Engine {
  /** All node states in file order: a new, deeply frozen array with each change. */
  readonly nodes: Source<readonly NodeState[]>;
  /** The current or last run. */
  readonly current: Source<RunState>;
  /**
   * Sets how many commands run at once from now on, an integer from 1. What runs already is left alone.
   *
   * @throws CiError `CLOSED`
   */
  configure(options: { readonly parallel: number }): { readonly parallel: number };
  /**
   * Starts a run of every node. `strict` (default false) starts no new node once one has failed; otherwise everything
   * runs whose needs have passed.
   *
   * @throws CiError `RUN_IN_PROGRESS`, `CLOSED`
   */
  start(options?: { readonly strict?: boolean }): { readonly run: number };
  /**
   * Runs a node and everything that needs it again, under the current run. Takes up what a failure had left out, too:
   * the run could not become green without it. Allowed while other nodes of the run are still running. `nodes` are
   * the ids it queued.
   *
   * @throws CiError `UNKNOWN_NODE`, `NO_RUN`, `NODE_BUSY` (it or a dependent is under way), `NEEDS_NOT_PASSED`,
   *   `RUN_IN_PROGRESS` (the run is being cancelled), `CLOSED`
   */
  rerun(id: string): { readonly run: number; readonly nodes: readonly string[] };
  /**
   * Goes on with the run that the engine's memory says was cut short: interrupted nodes are queued again, under the same
   * attempt, and what had passed is left alone. Returns their ids; nothing happens where no run was cut short. Whatever of
   * their commands was still alive must be gone before.
   *
   * @throws CiError `CLOSED`
   */
  resume(): readonly string[];
  /** Ends the run in progress and resolves when it has settled; `cancelled` is empty when there was none. */
  cancel(): Promise<{ readonly run: number; readonly cancelled: readonly string[] }>;
  /**
   * Every verdict from this call on: one at the first red node of a run or rerun, one when it settles. Ends with
   * `signal` or `close`.
   */
  verdicts(signal: AbortSignal): AsyncIterable<Verdict>;
  /**
   * The log of a node's present attempt, now. A node that is queued again begins with an empty one.
   *
   * @throws CiError `UNKNOWN_NODE`
   */
  log(id: string): LogTail;
  /**
   * The log now, then the newest state of it after each change, across reruns, until `signal` or `close`. Changes
   * within a turn of the event loop, and those a slow reader missed, come as one.
   *
   * @throws CiError `UNKNOWN_NODE`, at once
   */
  watchLog(id: string, signal: AbortSignal): AsyncIterable<LogTail>;
  /** Cancels what runs, waits until every child is gone, ends all iterators. Idempotent; nothing starts afterwards. */
  close(): Promise<void>;
}
