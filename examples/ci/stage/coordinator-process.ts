import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** A coordinator in a process of its own. Whoever started it ends it. */
export interface CoordinatorProcess {
  readonly pid: number;
  /** Resolves when it is gone. */
  readonly gone: Promise<unknown>;
  /** Lets it end in order, and kills it if it does not. Callable twice. */
  end(): Promise<void>;
  /** Kills it without a word of warning. */
  kill(): Promise<void>;
}

/** What a coordinator is started with. */
export interface CoordinatorSetting {
  readonly pipeline: string;
  readonly state: string;
  /** Whether the state goes when the coordinator ends in order, which it does as well when this process is killed. */
  readonly temporary: boolean;
}

const PROGRAM = fileURLToPath(new URL("../coordinator.ts", import.meta.url));
/** How long it may take to end: its commands have half a second of that. */
const END_MS = 5000;
const POLL_MS = 25;

/** Takes hold of one that somebody else has started, and that ends with whoever that was. */
export function adoptCoordinator(pid: number): CoordinatorProcess {
  const gone = untilGone(pid, { ref: false });
  return {
    pid,
    gone,
    async end() {
      const over = new AbortController();
      const late = delay(END_MS, undefined, { signal: over.signal }).then(
        () => kill(pid),
        () => {},
      );
      await Promise.race([gone, late]);
      over.abort();
    },
    async kill() {
      kill(pid);
      // Not by `gone`: where nothing else is left to do, this process would end before it.
      await untilGone(pid, { ref: true });
    },
  };
}

/** @param options - whether waiting keeps this process alive. */
async function untilGone(pid: number, options: { readonly ref: boolean }): Promise<void> {
  while (kill(pid, 0)) await delay(POLL_MS, undefined, options);
}

function kill(pid: number, signal: NodeJS.Signals | 0 = "SIGKILL"): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Starts a coordinator; resolves once it listens.
 *
 * @throws Error when it ends before that; it has said why on standard error then.
 */
export async function startCoordinator({
  pipeline,
  state,
  temporary,
}: CoordinatorSetting): Promise<CoordinatorProcess> {
  const args = ["--state", state, "--pipeline", pipeline, "--tied", ...(temporary ? ["--temporary"] : [])];
  // In a session of its own, so that a Ctrl-C reaches only the process that ends all others in order.
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), PROGRAM, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  const gone = once(child, "exit");
  const firstLine = once(createInterface({ input: child.stdout }), "line");
  const isUp = await Promise.race([firstLine.then(() => true), gone.then(() => false)]);
  if (!isUp || child.pid === undefined) throw new Error("start the coordinator: it ended before it could be reached");
  return {
    pid: child.pid,
    gone,
    end: () => endProcess(child, gone),
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

async function endProcess(child: ChildProcess, gone: Promise<unknown>): Promise<void> {
  child.stdin?.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
  await gone;
  clearTimeout(timer);
}
