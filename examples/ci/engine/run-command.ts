import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { z } from "zod";

import { childEnv } from "./child-env.ts";
import { openOutputSocket } from "./output-socket.ts";
import type { OutputSocket } from "./output-socket.ts";
import type { PipelineNode } from "./pipeline.ts";
import { endLeftovers, signalGroup } from "./process-group.ts";

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
  /** Told the process group of the command, which is its leader's pid, as soon as there is one. */
  readonly onStarted?: (group: number) => void;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** Where a folder may be made for a moment. */
  readonly temporaryDir: string;
}

/** How long output may stay open after the group is gone: only a process that left the group can hold it. */
const OUTPUT_WAIT_MS = 500;
/** The descriptor on which the lifeline reports. */
const REPORT = 3;
const LIFELINE = fileURLToPath(new URL("./lifeline.mjs", import.meta.url));

/** What the lifeline writes about the end of its command. */
const Report = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("exited"), code: z.number() }),
  z.object({ kind: z.literal("signalled"), signal: z.string() }),
  z.object({ kind: z.literal("unstartable"), reason: z.string() }),
]);

/**
 * Runs a node's command as a child in a process group of its own, without a shell and without stdin. Whatever it
 * leaves running when it exits is ended too; and all of it ends when this process does, even if it is killed.
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
  #killTimer: NodeJS.Timeout | undefined;

  constructor(node: PipelineNode, options: RunCommandOptions) {
    this.#node = node;
    this.#options = options;
  }

  async run(): Promise<CommandOutcome> {
    try {
      const output = await openOutputSocket(this.#options.temporaryDir);
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
    const group = this.#group;
    if (group === undefined || this.#killTimer) return;
    signalGroup(group, "SIGTERM");
    this.#killTimer = setTimeout(() => signalGroup(group, "SIGKILL"), this.#options.graceMs);
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
    const outcome = await this.#await(this.#spawn(output));
    const waiting = new AbortController();
    await Promise.race([closed, delay(OUTPUT_WAIT_MS, undefined, { signal: waiting.signal }).catch(() => {})]);
    waiting.abort();
    return this.#explain(outcome);
  }

  #spawn(output: OutputSocket): ChildProcess {
    const child = spawn(process.execPath, [LIFELINE, ...this.#node.command], {
      cwd: this.#node.cwd,
      env: childEnv(process.env, this.#node.env),
      detached: true,
      stdio: ["pipe", output.writer, output.writer, "pipe"],
    });
    output.writer.destroy();
    this.#group = child.pid;
    if (child.pid !== undefined) this.#options.onStarted?.(child.pid);
    return child;
  }

  /** Waits until the command and what it has left are gone, and its lifeline too. */
  async #await(child: ChildProcess): Promise<CommandOutcome> {
    const gone = exitOf(child);
    const timer = setTimeout(() => this.end("timed-out"), this.#node.timeoutMs);
    const report = await reportOf(child);
    clearTimeout(timer);
    clearTimeout(this.#killTimer);
    // Read now: a stop that comes while leftovers are cleared away does not change how the command ended.
    const endedBy = this.#endedBy;
    if (this.#group !== undefined) await endLeftovers(this.#group, this.#options.graceMs);
    child.stdin?.end();
    const end = await gone;
    this.#group = undefined;
    clearTimeout(this.#killTimer);
    return endedBy ? { kind: endedBy } : (report ?? end);
  }

  #explain(exit: CommandOutcome): CommandOutcome {
    if (exit.kind !== "unstartable") return exit;
    const { command, cwd } = this.#node;
    const reason = existsSync(cwd) ? exit.reason : `the folder "${cwd}" does not exist`;
    return { kind: "unstartable", reason: `start "${command[0]}": ${reason}` };
  }
}

/** Resolves with what the lifeline says of the command; with nothing when it was killed before it could. */
async function reportOf(child: ChildProcess): Promise<CommandOutcome | undefined> {
  const pipe = child.stdio[REPORT];
  if (!(pipe instanceof Readable)) return undefined;
  const said = await text(pipe).catch(() => "");
  return said === "" ? undefined : Report.parse(JSON.parse(said));
}

/** Resolves when the lifeline itself has ended. */
function exitOf(child: ChildProcess): Promise<CommandOutcome> {
  // Nothing is ever written to it, so it has nothing to say but its end.
  child.stdin?.on("error", () => {});
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
