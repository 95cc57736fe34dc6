import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { ValueOwner } from "./value-owner.ts";

const LF = 0x0a;
const hangMs = 60_000;
/** How much of what a server says on standard error is kept, for the case that it fails. */
const keptText = 4_000;

/** Tells how many answers a chunk of output completed, and the chunk. */
export type AnswerListener = (count: number, chunk: Buffer) => void;

/** How a process is started. */
export interface ProcessOptions {
  /** Whether it owns the value that is measured: it gets a channel on which it is told to write it. */
  readonly owns?: boolean;
}

const ignore: AnswerListener = () => {};

function countLines(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) count += 1;
  return count;
}

/**
 * A server in a process of its own, and the two pipes to it. Lines are counted, not parsed: what drives a server must
 * cost less than the server. Whoever starts it stops it.
 */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #input: Writable;
  /** Takes all output while nothing was asked. */
  #attending = ignore;
  #listener = ignore;
  #fail: (cause: Error) => void = () => {};
  #said = "";

  /** Starts `node` with these arguments. */
  constructor(args: readonly string[], { owns = false }: ProcessOptions = {}) {
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe", ...(owns ? ["ipc" as const] : [])] });
    const { stdin, stdout, stderr } = this.#child;
    if (stdin === null || stdout === null || stderr === null) throw new Error("Benchmark: a server has no pipes");
    this.#input = stdin;
    stdout.on("data", (chunk: Buffer) => this.#hear(chunk));
    stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#said = (this.#said + text).slice(-keptText);
    });
    stdin.on("error", (cause) => this.#fail(cause));
    this.#child.on("error", (cause) => this.#fail(cause));
    this.#child.on("exit", (code) =>
      this.#fail(new Error(`Benchmark: a server ended with code ${code}, and said: ${this.#said}`)),
    );
  }

  #hear(chunk: Buffer): void {
    try {
      this.#listener(countLines(chunk), chunk);
    } catch (cause) {
      this.#fail(cause instanceof Error ? cause : new Error(String(cause)));
    }
  }

  /** The process's id. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The process as the owner of the value; only where it was started as one. */
  get owner(): ValueOwner {
    return new ValueOwner(this.#child);
  }

  /** Hands all output that nobody asked for to a listener. */
  attend(listener: AnswerListener): void {
    this.#attending = listener;
    this.#listener = listener;
  }

  /** Sends text: one or more lines. */
  write(text: string): void {
    this.#input.write(text);
  }

  /**
   * Hands all output to a listener until `work` is told that it is done. Rejects when the server ends or says nothing
   * for a minute.
   */
  async listen(work: (done: () => void) => AnswerListener): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(() => reject(new Error("Benchmark: a server did not finish within a minute")), hangMs);
        this.#fail = reject;
        this.#listener = work(resolve);
      });
    } finally {
      clearTimeout(timer);
      this.#listener = this.#attending;
      this.#fail = () => {};
    }
  }

  /** Sends one request and resolves with the text of its answer. */
  async ask(line: string): Promise<string> {
    const chunks: Buffer[] = [];
    const answered = this.listen((done) => (count, chunk) => {
      chunks.push(chunk);
      if (count > 0) done();
    });
    this.write(line);
    await answered;
    return Buffer.concat(chunks).toString("utf8");
  }

  /** Closes its input, which is how a host says goodbye, and waits for it to end. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#input.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 5_000);
    await gone;
    clearTimeout(timer);
  }
}
