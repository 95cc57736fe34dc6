import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import { childEnv } from "./child-env.ts";
import { openOutputSocket } from "./output-socket.ts";
import type { OutputSocket } from "./output-socket.ts";
import type { PipelineNode } from "./pipeline.ts";
import { endGroup, signalGroup } from "./process-group.ts";

/** How a command ended. */
export type CommandOutcome =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "signalled"; readonly signal: string }
  | { readonly kind: "timed-out" }
  | { readonly kind: "stopped" }
  | { readonly kind: "unstartable"; readonly reason: string };

/** A command under way. */
export interface RunningCommand {
  /** Resolves when the command and everything it started are gone and all output has been read. Never rejects. */
  readonly done: Promise<CommandOutcome>;
  /** Ends the command and its descendants: SIGTERM, after the grace SIGKILL. Idempotent. */
  stop(): void;
  /** SIGKILL to all of them, synchronously: for a process that is about to exit. */
  kill(): void;
}

/** What {@link runCommand} is told besides the node. */
export interface RunCommandOptions {
  readonly onOutput: (bytes: Buffer) => void;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs: number;
}

/** How long output may stay open after the group is gone: only a process that left the group can hold it. */
const OUTPUT_WAIT_MS = 500;

/**
 * Runs a node's command as a child in a process group of its own, without a shell and without stdin. Whatever it
 * leaves running when it exits is ended too.
 */
export function runCommand(node: PipelineNode, options: RunCommandOptions): RunningCommand {
  const command = new Command(node, options);
  return { done: command.run(), stop: () => command.end("stopped"), kill: () => command.kill() };
}

class Command {
  readonly #node: PipelineNode;
  readonly #options: RunCommandOptions;
  #group: number | undefined;
  #endedBy: "stopped" | "timed-out" | undefined;
  #ending: Promise<void> | undefined;

  constructor(node: PipelineNode, options: RunCommandOptions) {
    this.#node = node;
    this.#options = options;
  }

  async run(): Promise<CommandOutcome> {
    try {
      const output = await openOutputSocket();
      return await this.#runWith(output).finally(() => {
        output.writer.destroy();
        output.reader.destroy();
      });
    } catch (error) {
      return { kind: "unstartable", reason: error instanceof Error ? error.message : String(error) };
    }
  }

  end(why: "stopped" | "timed-out"): void {
    this.#endedBy ??= why;
    if (this.#group !== undefined) this.#ending ??= endGroup(this.#group, this.#options.graceMs);
  }

  kill(): void {
    if (this.#group !== undefined) signalGroup(this.#group, "SIGKILL");
  }

  async #runWith(output: OutputSocket): Promise<CommandOutcome> {
    if (this.#endedBy) return { kind: this.#endedBy };
    output.reader.on("data", this.#options.onOutput);
    // Reset by a peer that was killed: there is no more output, which "close" says as well.
    output.reader.on("error", () => {});
    const closed = once(output.reader, "close");
    const child = this.#spawn(output);
    const timer = setTimeout(() => this.end("timed-out"), this.#node.timeoutMs);
    const exit = await exitOf(child).finally(() => clearTimeout(timer));
    // Read now: a stop that comes while leftovers are cleared away does not change how the command ended.
    const endedBy = this.#endedBy;
    if (this.#group !== undefined) await (this.#ending ??= endGroup(this.#group, this.#options.graceMs));
    this.#group = undefined;
    const waiting = new AbortController();
    await Promise.race([closed, delay(OUTPUT_WAIT_MS, undefined, { signal: waiting.signal }).catch(() => {})]);
    waiting.abort();
    return endedBy ? { kind: endedBy } : this.#explain(exit);
  }

  #spawn(output: OutputSocket): ChildProcess {
    const [program, ...args] = this.#node.command;
    const child = spawn(program, args, {
      cwd: this.#node.cwd,
      env: childEnv(process.env, this.#node.env),
      detached: true,
      stdio: ["ignore", output.writer, output.writer],
    });
    output.writer.destroy();
    this.#group = child.pid;
    return child;
  }

  #explain(exit: CommandOutcome): CommandOutcome {
    if (exit.kind !== "unstartable") return exit;
    const { command, cwd } = this.#node;
    const reason = existsSync(cwd) ? exit.reason : `the folder "${cwd}" does not exist`;
    return { kind: "unstartable", reason: `start "${command[0]}": ${reason}` };
  }
}

function exitOf(child: ChildProcess): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    child.once("error", (error) => {
      // An error of a child that runs is about a signal that could not be sent, and "exit" is still to come.
      if (child.pid === undefined) resolve({ kind: "unstartable", reason: error.message });
    });
    child.once("exit", (code, signal) => {
      resolve(code === null ? { kind: "signalled", signal: signal ?? "unknown" } : { kind: "exited", code });
    });
  });
}
