import { assertRerunnable } from "./assert-rerunnable.ts";
import { createBroadcast } from "./broadcast.ts";
import type { EngineRecorder } from "./engine-record.ts";
import type { Engine, EngineOptions, RunState } from "./engine-types.ts";
import { CiError } from "./errors.ts";
import { explainOutcome } from "./explain-outcome.ts";
import { createLogBook } from "./log-book.ts";
import type { LogBook } from "./log-book.ts";
import type { LogTail } from "./log-tail.ts";
import type { NodeLog } from "./node-log.ts";
import type { NodeState } from "./node-state.ts";
import { createPass, restorePass } from "./pass.ts";
import type { Pass } from "./pass.ts";
import type { Pipeline, PipelineNode } from "./pipeline.ts";
import { createPlan } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { birthOf } from "./process-group.ts";
import { runCommand } from "./run-command.ts";
import type { CommandOutcome, RunningCommand } from "./run-command.ts";
import { createSource } from "./source.ts";
import type { Source, WritableSource } from "./source.ts";
import { createStateBoard } from "./state-board.ts";
import type { StateBoard } from "./state-board.ts";
import { toVerdict } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";
import { watchLatest } from "./watch-latest.ts";

/**
 * The engine behind `createEngine`. Everything between two awaits is one step: states are written, then verdicts
 * published, then new commands launched, so that who hears of a verdict finds the states it speaks of.
 */
export class PipelineEngine implements Engine {
  readonly nodes: Source<readonly NodeState[]>;
  readonly current: Source<RunState>;
  readonly #current: WritableSource<RunState>;
  readonly #options: Required<EngineOptions>;
  readonly #plan: Plan;
  readonly #board: StateBoard;
  readonly #logs: LogBook;
  readonly #record: EngineRecorder;
  readonly #verdicts = createBroadcast<Verdict>();
  readonly #running = new Map<string, RunningCommand>();
  readonly #closed = new AbortController();
  #parallel: number;
  #told: number;
  #pass: Pass | undefined;
  #closing: Promise<void> | undefined;

  constructor(pipeline: Pipeline, options: Required<EngineOptions>) {
    const { memory, record } = options;
    this.#options = options;
    this.#record = record;
    this.#parallel = memory.parallel ?? options.parallel;
    this.#told = memory.verdicts.length;
    this.#plan = createPlan(pipeline.nodes);
    this.#board = createStateBoard(pipeline.nodes, {
      restored: memory.states,
      record: (states) => record({ kind: "states", states }),
    });
    this.#logs = createLogBook(pipeline.nodes, options, () => this.#current.get().run);
    this.#pass = restorePass(memory);
    this.#current = createSource(toRunState(memory.run, memory.strict, this.#pass));
    this.current = this.#current;
    this.nodes = this.#board.source;
    process.on("exit", this.#killAll);
  }

  configure(options: { readonly parallel: number }): { readonly parallel: number } {
    this.#assertOpen("configure runs");
    this.#parallel = options.parallel;
    this.#record({ kind: "configured", parallel: options.parallel });
    if (this.#pass) this.#advance(this.#pass);
    return { parallel: this.#parallel };
  }

  start(options: { readonly strict?: boolean } = {}): { readonly run: number } {
    this.#assertOpen("start a run");
    const last = this.#current.get().run;
    if (this.#pass) {
      throw new CiError("RUN_IN_PROGRESS", `start a run: run ${last} is in progress, and must settle first`);
    }
    const run = last + 1;
    this.#told = 0;
    this.#begin(run, options.strict ?? false);
    this.#queue([...this.#plan.nodes.keys()], () => ({ attempt: 1, starts: 0 }));
    if (this.#pass) this.#advance(this.#pass);
    return { run };
  }

  rerun(id: string): { readonly run: number; readonly nodes: readonly string[] } {
    const attempt = `rerun "${id}"`;
    this.#assertOpen(attempt);
    this.#logs.of(id, attempt);
    const { run, strict } = this.#current.get();
    if (run === 0) throw new CiError("NO_RUN", `${attempt}: nothing has run yet, and a run must be started first`);
    if (this.#pass?.cancelling === true) {
      throw new CiError("RUN_IN_PROGRESS", `${attempt}: run ${run} is being cancelled, and must settle first`);
    }
    const wanted = new Set(this.#plan.withDependents(id));
    const { statusOf } = this.#board;
    assertRerunnable(id, { plan: this.#plan, board: this.#board, wanted });
    const queued = [...wanted, ...this.#plan.resumable(wanted, statusOf)];
    this.#begin(run, strict);
    this.#queue(
      queued.filter((node) => statusOf(node) !== "waiting"),
      ({ attempt: before, starts }) => ({ attempt: before + 1, starts }),
    );
    if (this.#pass) this.#advance(this.#pass);
    return { run, nodes: queued };
  }

  resume(): readonly string[] {
    this.#assertOpen("take up the run");
    const pass = this.#pass;
    if (!pass) return [];
    const cut = this.#board.idsOf("interrupted");
    this.#board.update(cut, ({ id, needs, attempt, starts }) => ({ id, status: "waiting", needs, attempt, starts }));
    for (const id of cut) this.#logs.find(id)?.note("[ci] interrupted when the coordinator ended; started again");
    if (this.#options.memory.pass?.red === "untold") this.#announceRed(pass);
    this.#advance(pass);
    return cut;
  }

  async cancel(): Promise<{ readonly run: number; readonly cancelled: readonly string[] }> {
    const { run } = this.#current.get();
    const pass = this.#pass;
    if (!pass) return { run, cancelled: [] };
    pass.cancelling = true;
    for (const command of this.#running.values()) command.stop();
    this.#board.update([...this.#board.idsOf("waiting"), ...this.#board.idsOf("interrupted")], (state) => ({
      ...state,
      status: "cancelled",
    }));
    this.#settleIfDone(pass);
    await pass.settled;
    return { run, cancelled: this.#board.idsOf("cancelled") };
  }

  verdicts(signal: AbortSignal): AsyncIterable<Verdict> {
    return this.#verdicts.read(signal);
  }

  log(id: string): LogTail {
    return this.#logs.of(id, `read the log of "${id}"`).read();
  }

  watchLog(id: string, signal: AbortSignal): AsyncIterable<LogTail> {
    return watchLatest(this.#logs.of(id, `watch the log of "${id}"`), [signal, this.#closed.signal]);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  readonly #killAll = (): void => {
    for (const command of this.#running.values()) command.kill();
  };

  async #end(): Promise<void> {
    await this.cancel();
    this.#closed.abort();
    this.#verdicts.close();
    process.off("exit", this.#killAll);
  }

  /** Begins a stretch of work, or continues the one under way as if it began now. */
  #begin(run: number, strict: boolean): void {
    this.#pass ??= createPass();
    Object.assign(this.#pass, { startedAt: performance.now(), redSeen: false, stopped: false });
    this.#current.set(toRunState(run, strict, this.#pass));
  }

  #queue(ids: readonly string[], count: (state: NodeState) => Pick<NodeState, "attempt" | "starts">): void {
    const { run, strict } = this.#current.get();
    this.#logs.begin(run, ids);
    this.#board.update(
      ids,
      (state) => ({ id: state.id, status: "waiting", needs: state.needs, ...count(state) }),
      (states) => this.#record({ kind: "begun", run, strict, at: Date.now(), states }),
    );
  }

  #advance(pass: Pass): void {
    this.#skip(pass);
    if (!pass.cancelling) this.#launchReady();
    this.#settleIfDone(pass);
  }

  /** Marks what cannot start any more: everything after a strict stop, else what needs a node that is not green. */
  #skip(pass: Pass): void {
    const blocked = this.#plan.blocked(this.#board.statusOf);
    const skipped = pass.stopped ? this.#board.idsOf("waiting") : [...blocked.keys()];
    for (const id of skipped) {
      const need = blocked.get(id);
      const reason = need === undefined ? "a strict run stops at the first failure" : `it needs "${need}"`;
      this.#closeLog(id, `[ci] skipped: ${reason}`);
    }
    this.#board.update(skipped, (state) => ({ ...state, status: "skipped" }));
  }

  #launchReady(): void {
    const free = this.#parallel - this.#running.size;
    for (const id of this.#plan.ready(this.#board.statusOf).slice(0, Math.max(0, free))) {
      const node = this.#plan.nodes.get(id);
      const log = this.#logs.find(id);
      if (node && log) this.#launch(node, log);
    }
  }

  #launch(node: PipelineNode, log: NodeLog): void {
    log.note(`$ ${node.command.join(" ")}`);
    const startedAt = performance.now();
    const command = runCommand(node, {
      onOutput: log.write,
      onStarted: (group) => this.#record({ kind: "command", node: node.id, group, born: birthOf(group) }),
      graceMs: this.#options.graceMs,
      temporaryDir: this.#options.temporaryDir,
    });
    this.#running.set(node.id, command);
    this.#board.update([node.id], (state) => ({
      ...state,
      status: "running",
      starts: state.starts + 1,
      startedAt: new Date().toISOString(),
    }));
    void command.done.then((outcome) => this.#finish(node, outcome, Math.round(performance.now() - startedAt)));
  }

  #finish(node: PipelineNode, outcome: CommandOutcome, durationMs: number): void {
    const { status, exitCode, note } = explainOutcome(outcome, node.timeoutMs);
    this.#running.delete(node.id);
    this.#closeLog(node.id, note);
    const result = exitCode === undefined ? { durationMs } : { durationMs, exitCode };
    this.#board.update([node.id], (state) => ({ ...state, status, ...result }));
    const pass = this.#pass;
    if (!pass) return;
    if (status === "failed") this.#announceRed(pass);
    this.#advance(pass);
  }

  #closeLog(id: string, note: string | undefined): void {
    const log = this.#logs.find(id);
    if (note !== undefined) log?.note(note);
    if (log) this.#record({ kind: "log", log: log.read() });
  }

  #announceRed(pass: Pass): void {
    pass.stopped ||= this.#current.get().strict;
    if (pass.redSeen) return;
    pass.redSeen = true;
    this.#skip(pass);
    this.#publish("first-red", pass);
  }

  #settleIfDone(pass: Pass): void {
    const isDone = this.#running.size === 0 && this.#board.idsOf("waiting").length === 0;
    if (this.#pass !== pass || !isDone) return;
    const { run, strict } = this.#current.get();
    this.#pass = undefined;
    this.#publish("settled", pass);
    this.#current.set(toRunState(run, strict, undefined));
    pass.settle();
  }

  #publish(at: Verdict["at"], pass: Pass): void {
    const durationMs = Math.round(performance.now() - pass.startedAt);
    const { run } = this.#current.get();
    this.#told += 1;
    const verdict = toVerdict(this.nodes.get(), { run, number: this.#told, at, durationMs });
    this.#record({ kind: "verdict", verdict });
    this.#verdicts.publish(verdict);
  }

  #assertOpen(attempt: string): void {
    if (this.#closing) throw new CiError("CLOSED", `${attempt}: the engine is closed`);
  }
}

function toRunState(run: number, strict: boolean, pass: Pass | undefined): RunState {
  return Object.freeze({ run, active: pass !== undefined, strict });
}
