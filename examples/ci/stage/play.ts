import type { Palette } from "../agent/palette.ts";
import type { Printer } from "../agent/printer.ts";
import type { Outcome } from "../agent.ts";
import { readJournal } from "../engine/journal.ts";
import { journalIn } from "../state-dir.ts";
import { awaitCoordinator } from "./await-coordinator.ts";
import { awaitMoment } from "./await-moment.ts";
import type { CoordinatorProcess, CoordinatorSetting } from "./coordinator-process.ts";
import type { House } from "./house.ts";
import { printEvidence } from "./print-evidence.ts";
import { startAgent } from "./start-agent.ts";
import type { AgentProcess, AgentReport } from "./start-agent.ts";
import { strike } from "./strike.ts";
import type { Strike } from "./strike.ts";

/** What is played, and on what. */
export interface Playbill {
  readonly setting: CoordinatorSetting;
  /** Where the agent finds its face; the one who opened it ends it. */
  readonly house: House;
  /** Whether the coordinator is killed. */
  readonly kill: boolean;
  /** Whether the agent's run goes on where a node is red. */
  readonly keepGoing: boolean;
  readonly printer: Printer;
  /** Ends everything. */
  readonly signal: AbortSignal;
}

/**
 * Plays it once, and leaves no process behind, whatever happens.
 *
 * @throws Error when the agent could not do its work, the coordinator ended by itself, or the signal came.
 */
export async function play(bill: Playbill): Promise<Outcome["verdict"]> {
  const { printer, signal } = bill;
  const stage = new Stage(bill);
  try {
    const aborted = new Promise<never>((_, reject) => {
      const leave = (): void => reject(new Error("told to end"));
      signal.addEventListener("abort", leave);
      if (signal.aborted) leave();
    });
    const { outcome } = await Promise.race([stage.perform(), aborted]);
    printer.headline(toLastLine(outcome, printer.paint));
    return outcome.verdict;
  } finally {
    await stage.clear();
  }
}

class Stage {
  readonly #bill: Playbill;
  readonly #agent: AgentProcess;
  readonly #over = new AbortController();
  #coordinator: Promise<CoordinatorProcess | undefined>;
  #strike: Promise<Strike | undefined> = Promise.resolve(undefined);

  constructor(bill: Playbill) {
    const { setting, house, keepGoing, printer } = bill;
    this.#bill = bill;
    const colours = printer.paint("strong", "x") !== "x";
    this.#agent = startAgent({ face: house.face, keepGoing, printer, colours });
    this.#coordinator = awaitCoordinator(setting.state, this.#over.signal);
  }

  async perform(): Promise<{ readonly outcome: Outcome }> {
    const { setting, house, kill, printer } = this.#bill;
    printer.step("who runs:", [
      "  coordinator  nobody yet: whoever runs the commands, and serves their surface on a socket",
      ...(await house.introduce(this.#agent)),
    ]);
    void this.#introduce();
    if (kill) this.#strike = this.#strikeInTime();
    const report = await Promise.race([this.#watched(), this.#unexpectedEnd()]);
    this.#over.abort();
    printEvidence({ report, journal: readJournal(journalIn(setting.state)), strike: await this.#strike }, printer);
    await house.conclude();
    return report;
  }

  /** Ends every process: the face with the agent, the commands with the coordinator. */
  async clear(): Promise<void> {
    this.#over.abort();
    await this.#agent.end();
    // A strike under way starts another coordinator.
    await this.#strike.catch(() => {});
    await (await this.#coordinator)?.end();
  }

  async #watched(): Promise<AgentReport> {
    const { live, report } = this.#agent;
    if (await Promise.race([live.then(() => true), report.then(() => false)])) await this.#bill.house.onLive();
    return report;
  }

  async #introduce(): Promise<void> {
    const coordinator = await this.#coordinator;
    if (coordinator) this.#bill.printer.step(`coordinator ${coordinator.pid} is up: the face has started it`);
  }

  async #strikeInTime(): Promise<Strike | undefined> {
    const { setting, printer } = this.#bill;
    const agent = this.#agent;
    const signal = this.#over.signal;
    if (!(await awaitMoment({ state: setting.state, isIdle: () => agent.isIdle(), signal }))) return undefined;
    const coordinator = await this.#coordinator;
    if (coordinator === undefined) return undefined;
    const done = await strike(coordinator, { setting, agent, printer });
    this.#coordinator = Promise.resolve(done.started);
    return done;
  }

  /** Rejects when a coordinator ends that nobody has killed here. */
  async #unexpectedEnd(): Promise<never> {
    const coordinator = await this.#coordinator;
    if (coordinator === undefined) return new Promise(() => {});
    await coordinator.gone;
    const struck = await this.#strike;
    if (struck) await struck.started.gone;
    throw new Error("the coordinator has ended by itself");
  }
}

function toLastLine({ verdict, failed, held }: Outcome, paint: Palette): string {
  if (verdict === "green") return `${paint("good", "GREEN")}: every node has passed`;
  const rest = held.length === 0 ? "" : `; ${held.join(", ")} could not run`;
  return `${paint("bad", "RED")}: ${failed.join(", ")} failed, and the agent found nothing more to mend${rest}`;
}
