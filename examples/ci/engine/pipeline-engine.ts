import { createBroadcast } from "./broadcast.ts";
import type { Engine, EngineOptions } from "./engine-types.ts";
import { CiError } from "./errors.ts";
import { explainOutcome } from "./explain-outcome.ts";
import type { LogTail } from "./log-tail.ts";
import { createNodeLog } from "./node-log.ts";
import type { NodeLog } from "./node-log.ts";
import type { NodeState } from "./node-state.ts";
import { createPass } from "./pass.ts";
import type { Pass } from "./pass.ts";
import type { Pipeline, PipelineNode } from "./pipeline.ts";
import { createPlan } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { runCommand } from "./run-command.ts";
import type { CommandOutcome, RunningCommand } from "./run-command.ts";
import type { Source } from "./source.ts";
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
  readonly #options: Required<EngineOptions>;
  readonly #plan: Plan;
  readonly #board: StateBoard;
  readonly #logs: ReadonlyMap<string, NodeLog>;
  readonly #verdicts = createBroadcast<Verdict>();
  readonly #running = new Map<string, RunningCommand>();
  readonly #closed = new AbortController();
  #run = 0;
  #parallel: number;
  #strict = false;
  #pass: Pass | undefined;
  #closing: Promise<void> | undefined;

  constructor(pipeline: Pipeline, options: Required<EngineOptions>) {
    this.#options = options;
    this.#parallel = options.parallel;
    this.#plan = createPlan(pipeline.nodes);
    this.#board = createStateBoard(pipeline.nodes);
    this.#logs = new Map(pipeline.nodes.map(({ id }) => [id, createNodeLog(id, options.logBytes)]));
    this.nodes = this.#board.source;
    process.on("exit", this.#killAll);
  }

  current(): { readonly run: number; readonly active: boolean } {
    return { run: this.#run, active: this.#pass !== undefined };
  }

  configure(options: { readonly parallel: number }): { readonly parallel: number } {
    this.#assertOpen("configure runs");
    this.#parallel = options.parallel;
    if (this.#pass) this.#advance(this.#pass);
    return { parallel: this.#parallel };
  }

  start(options: { readonly strict?: boolean } = {}): { readonly run: number } {
    this.#assertOpen("start a run");
    if (this.#pass) {
      throw new CiError("RUN_IN_PROGRESS", `start a run: run ${this.#run} is in progress, and must settle first`);
    }
    this.#run += 1;
    this.#strict = options.strict ?? false;
    this.#pass = createPass();
    this.#queue([...this.#plan.nodes.keys()], () => 1);
    this.#advance(this.#pass);
    return { run: this.#run };
  }

  rerun(id: string): { readonly run: number; readonly nodes: readonly string[] } {
    const attempt = `rerun "${id}"`;
    this.#assertOpen(attempt);
    this.#assertRerunnable(id, attempt);
    const wanted = new Set(this.#plan.withDependents(id));
    const statusOf = this.#board.statusOf;
    const busy = [...wanted].find((node) => statusOf(node) === "running");
    if (busy !== undefined) throw new CiError("NODE_BUSY", `${attempt}: "${busy}" is running, and must end first`);
    const queued = [...wanted, ...this.#plan.resumable(wanted, statusOf)];
    this.#queue(
      queued.filter((node) => statusOf(node) !== "waiting"),
      (state) => state.attempt + 1,
    );
    this.#pass ??= createPass();
    Object.assign(this.#pass, { startedAt: performance.now(), redSeen: false, stopped: false });
    this.#advance(this.#pass);
    return { run: this.#run, nodes: queued };
  }

  async cancel(): Promise<{ readonly run: number; readonly cancelled: readonly string[] }> {
    const run = this.#run;
    const pass = this.#pass;
    if (!pass) return { run, cancelled: [] };
    pass.cancelling = true;
    for (const command of this.#running.values()) command.stop();
    this.#board.update(this.#waiting(), (state) => ({ ...state, status: "cancelled" }));
    this.#settleIfDone(pass);
    await pass.settled;
    const cancelled = this.nodes.get().filter((state) => state.status === "cancelled");
    return { run, cancelled: cancelled.map((state) => state.id) };
  }

  verdicts(signal: AbortSignal): AsyncIterable<Verdict> {
    return this.#verdicts.read(signal);
  }

  log(id: string): LogTail {
    return this.#logOf(id, `read the log of "${id}"`).read();
  }

  watchLog(id: string, signal: AbortSignal): AsyncIterable<LogTail> {
    return watchLatest(this.#logOf(id, `watch the log of "${id}"`), [signal, this.#closed.signal]);
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

  #queue(ids: readonly string[], attempt: (state: NodeState) => number): void {
    for (const id of ids) this.#logs.get(id)?.clear();
    this.#board.update(ids, (state) => ({
      id: state.id,
      status: "waiting",
      needs: state.needs,
      attempt: attempt(state),
    }));
  }

  #advance(pass: Pass): void {
    this.#skip(pass);
    if (!pass.cancelling) this.#launchReady();
    this.#settleIfDone(pass);
  }

  /** Marks what cannot start any more: everything after a strict stop, else what needs a node that is not green. */
  #skip(pass: Pass): void {
    const blocked = this.#plan.blocked(this.#board.statusOf);
    const skipped = pass.stopped ? this.#waiting() : [...blocked.keys()];
    for (const id of skipped) {
      const need = blocked.get(id);
      const reason = need === undefined ? "a strict run stops at the first failure" : `it needs "${need}"`;
      this.#logs.get(id)?.note(`[ci] skipped: ${reason}`);
    }
    this.#board.update(skipped, (state) => ({ ...state, status: "skipped" }));
  }

  #launchReady(): void {
    const free = this.#parallel - this.#running.size;
    for (const id of this.#plan.ready(this.#board.statusOf).slice(0, Math.max(0, free))) {
      const node = this.#plan.nodes.get(id);
      const log = this.#logs.get(id);
      if (node && log) this.#launch(node, log);
    }
  }

  #launch(node: PipelineNode, log: NodeLog): void {
    log.note(`$ ${node.command.join(" ")}`);
    const startedAt = performance.now();
    const command = runCommand(node, { onOutput: log.write, graceMs: this.#options.graceMs });
    this.#running.set(node.id, command);
    this.#board.update([node.id], (state) => ({ ...state, status: "running", startedAt: new Date().toISOString() }));
    void command.done.then((outcome) => this.#finish(node, outcome, Math.round(performance.now() - startedAt)));
  }

  #finish(node: PipelineNode, outcome: CommandOutcome, durationMs: number): void {
    const { status, exitCode, note } = explainOutcome(outcome, node.timeoutMs);
    this.#running.delete(node.id);
    if (note !== undefined) this.#logs.get(node.id)?.note(note);
    const result = exitCode === undefined ? { durationMs } : { durationMs, exitCode };
    this.#board.update([node.id], (state) => ({ ...state, status, ...result }));
    const pass = this.#pass;
    if (!pass) return;
    if (status === "failed") this.#announceRed(pass);
    this.#advance(pass);
  }

  #announceRed(pass: Pass): void {
    pass.stopped ||= this.#strict;
    if (pass.redSeen) return;
    pass.redSeen = true;
    this.#skip(pass);
    this.#publish("first-red", pass);
  }

  #settleIfDone(pass: Pass): void {
    if (this.#pass !== pass || this.#running.size > 0 || this.#waiting().length > 0) return;
    this.#pass = undefined;
    this.#publish("settled", pass);
    pass.settle();
  }

  #publish(at: Verdict["at"], pass: Pass): void {
    const durationMs = Math.round(performance.now() - pass.startedAt);
    this.#verdicts.publish(toVerdict(this.nodes.get(), { run: this.#run, at, durationMs }));
  }

  #waiting(): readonly string[] {
    return this.nodes
      .get()
      .filter((state) => state.status === "waiting")
      .map((state) => state.id);
  }

  #logOf(id: string, attempt: string): NodeLog {
    const log = this.#logs.get(id);
    if (log) return log;
    const known = [...this.#logs.keys()].map((name) => `"${name}"`).join(", ");
    throw new CiError("UNKNOWN_NODE", `${attempt}: there is no such node, and it must be one of ${known}`);
  }

  #assertOpen(attempt: string): void {
    if (this.#closing) throw new CiError("CLOSED", `${attempt}: the engine is closed`);
  }

  #assertRerunnable(id: string, attempt: string): void {
    this.#logOf(id, attempt);
    if (this.#run === 0)
      throw new CiError("NO_RUN", `${attempt}: nothing has run yet, and a run must be started first`);
    if (this.#pass?.cancelling === true) {
      throw new CiError("RUN_IN_PROGRESS", `${attempt}: run ${this.#run} is being cancelled, and must settle first`);
    }
    if (this.#board.statusOf(id) === "waiting") {
      throw new CiError("NODE_BUSY", `${attempt}: it is waiting to run already`);
    }
    const need = this.#plan.redNeed(id, this.#board.statusOf);
    if (need === undefined) return;
    const status = this.#board.statusOf(need);
    throw new CiError("NEEDS_NOT_PASSED", `${attempt}: its need "${need}" is ${status}, so rerun "${need}" instead`);
  }
}
