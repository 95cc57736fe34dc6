import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { BackendBug, BackendOrder, BackendReport, FinalValue } from "./backend-protocol.ts";
import { now } from "./now.ts";
import { TextTail } from "./text-tail.ts";

/** How a backend is started. */
export interface BackendSetting {
  /** The program. */
  readonly script: string;
  /** The path of its socket, or the URL of its web socket. */
  readonly address: string;
  /** Where it puts on record what it does. */
  readonly journal: string;
  readonly bug?: BackendBug | undefined;
}

/** A bound on a hang. */
const hangMs = 30_000;

/** One life of the backend. Whoever starts it strikes it. */
export class BackendProcess {
  readonly gen: number;
  readonly startedAt: number = now();
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #exited: Promise<unknown>;
  readonly #said: TextTail;
  readonly #waiting = new Map<BackendReport["is"], (report: BackendReport) => void>();
  #isStruck = false;
  #fail: (cause: Error) => void = () => {};

  constructor(gen: number, { script, address, journal, bug }: BackendSetting) {
    this.gen = gen;
    const fault = bug === undefined ? [] : ["--bug", bug];
    this.#child = spawn(
      process.execPath,
      [script, "--address", address, "--journal", journal, "--gen", String(gen), ...fault],
      { stdio: ["pipe", "pipe", "pipe"] },
    );
    this.#exited = once(this.#child, "exit");
    this.#said = new TextTail(this.#child.stderr);
    // Written to one that was killed.
    this.#child.stdin.on("error", () => {});
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#hear(line));
    void this.#exited.then(() => {
      if (!this.#isStruck) this.#fail(new Error(`The backend ended by itself, and said: ${this.#said.text}`));
    });
  }

  /** Resolves once it listens, with when that was. */
  async listening(): Promise<number> {
    const report = await this.#report("listening");
    return report.is === "listening" ? report.at : 0;
  }

  /** Lets it change things all the time. */
  stir(): void {
    this.#order({ order: "stir", seed: 0 });
  }

  /** Lets it change things once more and be quiet. Resolves with what there is then. */
  async settle(seed: number): Promise<readonly FinalValue[]> {
    this.#order({ order: "settle", seed });
    const report = await this.#report("settled");
    return report.is === "settled" ? report.values : [];
  }

  /** Sends it a signal. */
  signal(name: "SIGKILL" | "SIGSTOP" | "SIGTERM"): void {
    this.#isStruck ||= name !== "SIGSTOP";
    this.#child.kill(name);
  }

  /** Resolves once the process is gone. */
  async gone(): Promise<void> {
    await this.#exited;
  }

  #order(order: BackendOrder): void {
    this.#child.stdin.write(`${JSON.stringify(order)}\n`);
  }

  #hear(line: string): void {
    // The backend made it.
    const report = JSON.parse(line) as BackendReport;
    this.#waiting.get(report.is)?.(report);
  }

  async #report(is: BackendReport["is"]): Promise<BackendReport> {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.#fail = reject;
        this.#waiting.set(is, resolve);
        const late = (): void => reject(new Error(`The backend is not ${is} in time, and said: ${this.#said.text}`));
        timer = setTimeout(late, hangMs);
      });
    } finally {
      clearTimeout(timer);
    }
  }
}
