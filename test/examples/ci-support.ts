import { readFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";

import { onTestFinished } from "vitest";

import { createEngine } from "../../examples/ci/engine/engine.ts";
import type { Engine, EngineOptions } from "../../examples/ci/engine/engine-types.ts";
import type { NodeState } from "../../examples/ci/engine/node-state.ts";
import { parsePipeline } from "../../examples/ci/engine/pipeline-file.ts";
import type { Pipeline } from "../../examples/ci/engine/pipeline.ts";
import type { Verdict } from "../../examples/ci/engine/verdict.ts";

/** A node of a test pipeline: JavaScript to run in a process of its own, or a command. */
export interface ScriptNode {
  readonly script?: string;
  readonly command?: readonly string[];
  readonly needs?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutSeconds?: number;
}

/** Options of tests with several processes that start, and are killed: an upper bound on a hang. */
export const ofProcesses = { timeout: 90_000 };

/** Removes a folder. A process that was told to end a moment ago may still write to it: that is tried again. */
export function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 10 });
}

/** Makes a checked pipeline of scripts. `fs` and `net` need no import in them. */
export function pipelineOf(nodes: Readonly<Record<string, ScriptNode>>): Pipeline {
  const entries = Object.entries(nodes).map(([id, { script, ...rest }]) => [
    id,
    { command: [process.execPath, "-e", script ?? ""], ...rest },
  ]);
  return parsePipeline({ name: "test", nodes: Object.fromEntries(entries) }, { folder: tmpdir() });
}

/** An engine that is closed when the test is over, and every verdict it has given. */
export interface Rig {
  readonly engine: Engine;
  readonly verdicts: readonly Verdict[];
  /** Resolves with the next "settled" verdict. */
  readonly settled: () => Promise<Verdict>;
  readonly stateOf: (id: string) => NodeState;
  /** Status of every node, as `id:status`. */
  readonly statuses: () => readonly string[];
}

export function rigOf(nodes: Readonly<Record<string, ScriptNode>>, options: EngineOptions = {}): Rig {
  const engine = createEngine(pipelineOf(nodes), options);
  onTestFinished(() => engine.close());
  const verdicts: Verdict[] = [];
  void (async () => {
    for await (const verdict of engine.verdicts(new AbortController().signal)) verdicts.push(verdict);
  })();
  return {
    engine,
    verdicts,
    settled: () => nextVerdict(engine, "settled"),
    stateOf(id) {
      const state = engine.nodes.get().find((node) => node.id === id);
      if (!state) throw new Error(`no node ${id}`);
      return state;
    },
    statuses: () => engine.nodes.get().map((node) => `${node.id}:${node.status}`),
  };
}

export async function nextVerdict(engine: Engine, at: Verdict["at"]): Promise<Verdict> {
  for await (const verdict of engine.verdicts(new AbortController().signal)) {
    if (verdict.at === at) return verdict;
  }
  throw new Error(`no verdict at ${at}`);
}

/** Waits until `probe` gives something; a test that waits in vain runs into its own timeout. */
export async function eventually<TValue>(
  probe: () => TValue | undefined | Promise<TValue | undefined>,
): Promise<TValue> {
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Waits until a script has written a number to a file. */
export function pidIn(path: string): Promise<number> {
  return eventually(async () => {
    const text = await readFile(path, "utf8").catch(() => "");
    return /^\d+\n$/.test(text) ? Number(text) : undefined;
  });
}

/** Whether a process runs; one that is dead but not yet waited for does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]$/.test(stat.slice(stat.lastIndexOf(")") + 2)[0] ?? "Z");
  } catch {
    return false;
  }
}

/** Reads an iterable to its end. */
export async function collect<TValue>(values: AsyncIterable<TValue>): Promise<readonly TValue[]> {
  const all: TValue[] = [];
  for await (const value of values) all.push(value);
  return all;
}
