import type { EngineMemory, RememberedPass } from "./engine-record.ts";
import type { JournalLine } from "./journal-line.ts";
import type { LogTail } from "./log-tail.ts";
import type { NodeState } from "./node-state.ts";
import type { Verdict } from "./verdict.ts";

/** A command that was running when the journal ended. */
export interface CutCommand {
  readonly node: string;
  /** The process group, which is its leader's pid. */
  readonly group: number;
  /** Tells the leader from a later owner of its pid. */
  readonly born?: string | undefined;
}

/** What a journal tells. */
export interface Replay {
  readonly memory: EngineMemory;
  readonly cut: readonly CutCommand[];
  /** Digest of the pipeline that it is about; left out for an empty journal. */
  readonly pipeline?: string | undefined;
}

/** Tells from its lines, oldest first, where an engine stood when it came to its end. */
export function replayJournal(lines: readonly JournalLine[]): Replay {
  const story = new Story();
  for (const line of lines) story.hear(line);
  return story.end();
}

class Story {
  readonly #states = new Map<string, NodeState>();
  readonly #logs = new Map<string, LogTail>();
  readonly #commands = new Map<string, CutCommand>();
  #verdicts: Verdict[] = [];
  #run = { run: 0, strict: false };
  #pass: RememberedPass | undefined;
  #parallel: number | undefined;
  #pipeline: string | undefined;

  hear(line: JournalLine): void {
    switch (line.kind) {
      case "opened":
        this.#pipeline ??= line.pipeline;
        return;
      case "begun":
        return this.#begin(line);
      case "states":
        return this.#change(line.states);
      case "command":
        return void this.#commands.set(line.node, line);
      case "log":
        return void this.#logs.set(line.log.node, line.log);
      case "verdict":
        return this.#judge(line.verdict);
      case "configured":
        this.#parallel = line.parallel;
        return;
      case "repaired":
        return;
    }
  }

  end(): Replay {
    const cut = [...this.#commands.values()].filter(({ node }) => isCut(this.#states.get(node)));
    for (const [id, state] of this.#states) {
      if (!isCut(state)) continue;
      const { needs, attempt, starts } = state;
      this.#states.set(id, { id, status: "interrupted", needs, attempt, starts });
      this.#logs.delete(id);
    }
    const memory = {
      ...this.#run,
      pass: this.#pass,
      states: [...this.#states.values()],
      logs: [...this.#logs.values()],
      verdicts: this.#verdicts,
      parallel: this.#parallel,
    };
    return { memory, cut, pipeline: this.#pipeline };
  }

  #begin({ run, strict, at, states }: Extract<JournalLine, { readonly kind: "begun" }>): void {
    if (run !== this.#run.run) this.#verdicts = [];
    this.#run = { run, strict };
    this.#pass = { startedAt: at, red: "none" };
    this.#change(states);
  }

  #change(states: readonly NodeState[]): void {
    for (const state of states) {
      this.#states.set(state.id, state);
      if (state.status === "waiting") this.#logs.delete(state.id);
      if (state.status === "failed" && this.#pass?.red === "none") this.#pass = { ...this.#pass, red: "untold" };
    }
  }

  #judge(verdict: Verdict): void {
    this.#verdicts.push(verdict);
    if (verdict.at === "settled") this.#pass = undefined;
    else if (this.#pass) this.#pass = { ...this.#pass, red: "told" };
  }
}

/** A start that nobody has seen end: by the engine that started it, or by the one after it, which did not come to it. */
function isCut(state: NodeState | undefined): boolean {
  return state?.status === "running" || state?.status === "interrupted";
}
