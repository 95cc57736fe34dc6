import type { JournalLine } from "../engine/journal-line.ts";

/** How often a command was started, and why more than once. */
export interface CommandHistory {
  readonly node: string;
  readonly starts: number;
  /** How often a sudden end cut it off. */
  readonly interrupted: number;
  /** How often somebody asked for it again after it had run. */
  readonly reruns: number;
}

/** What was run. */
export interface RunHistory {
  /** The number of the last run; 0 where there was none. */
  readonly run: number;
  /** How often it was started: once, unless somebody did twice what must not happen twice. */
  readonly starts: number;
  /** How often it was announced that nothing of it runs any more. */
  readonly settled: number;
  /** Nodes whose command was started at all. */
  readonly commands: readonly CommandHistory[];
}

/** Tells of the last run that a journal knows. */
export function toRunHistory(lines: readonly JournalLine[]): RunHistory {
  const starts = lines.filter(isStart);
  const last = starts.at(-1);
  const since = lines.slice(last === undefined ? 0 : lines.indexOf(last));
  const run = last?.run ?? 0;
  return {
    run,
    starts: starts.filter((start) => start.run === run).length,
    settled: since.filter((line) => line.kind === "verdict" && line.verdict.at === "settled").length,
    commands: toCommands(since),
  };
}

/** A start queues everything for the first time; a rerun, at least one node that has had its turn. */
function isStart(line: JournalLine): line is Extract<JournalLine, { readonly kind: "begun" }> {
  return line.kind === "begun" && line.states.every(({ attempt, starts }) => attempt === 1 && starts === 0);
}

function toCommands(lines: readonly JournalLine[]): readonly CommandHistory[] {
  const running = new Set<string>();
  const counts = new Map<string, { starts: number; interrupted: number }>();
  const countOf = (node: string): { starts: number; interrupted: number } => {
    const known = counts.get(node) ?? { starts: 0, interrupted: 0 };
    counts.set(node, known);
    return known;
  };
  for (const line of lines) {
    if (line.kind === "opened") {
      for (const node of running) countOf(node).interrupted += 1;
      running.clear();
    }
    for (const { id, status } of "states" in line ? line.states : []) {
      if (status === "running") countOf(id).starts += 1;
      if (status === "running") running.add(id);
      else running.delete(id);
    }
  }
  return [...counts].map(([node, { starts, interrupted }]) => ({
    node,
    starts,
    interrupted,
    reruns: starts - 1 - interrupted,
  }));
}
