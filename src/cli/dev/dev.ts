import { watchFile } from "node:fs";
import { resolve } from "node:path";
import { onProcessEnd } from "../../links/on-process-end.ts";
import { escapeInvisible } from "../../schema/visible-text.ts";
import { withTimeout } from "../../surface/system-clock.ts";
import { readAppArguments, readPort, type AppArguments } from "../app-arguments.ts";
import { usage } from "../cli-errors.ts";
import type { CliEnvironment } from "../terminal.ts";
import type { Front } from "./front.ts";
import { Generation } from "./generation.ts";
import { HttpFront } from "./http-front.ts";
import { devFlags } from "./serve-generation.ts";
import { StdioFront } from "./stdio-front.ts";

/** Milliseconds between two looks at a file. Works for editors that replace files, and for folders of other machines. */
const lookMs = 200;

/** Milliseconds to wait for further changes after one. */
const settleMs = 100;

/** Milliseconds that running calls have for their answers when everything ends. */
const finishMs = 1000;

const defaultPort = 4000;

/** Starts a generation of the app after each change of a file that it imports, and replaces the last one that started. */
class Reloader {
  readonly #start: (reloader: Reloader) => Generation;
  readonly #front: Front;
  readonly #say: (text: string) => void;
  readonly #files = new Set<string>();
  readonly #all = new Set<Generation>();
  #starting: Generation | undefined;
  #current: Generation | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(front: Front, say: (text: string) => void, start: (reloader: Reloader) => Generation) {
    this.#front = front;
    this.#say = say;
    this.#start = start;
  }

  /** Watches a file, also one that does not exist. */
  watch(path: string): void {
    if (this.#files.has(path)) return;
    this.#files.add(path);
    watchFile(path, { interval: lookMs }, () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.reload(), settleMs);
    });
  }

  async reload(): Promise<void> {
    this.#starting?.kill();
    const next = this.#start(this);
    this.#starting = next;
    this.#all.add(next);
    const hasStarted = await next.ready;
    if (hasStarted) await this.#front.swap(next);
    // Another change came meanwhile.
    if (this.#starting !== next) return;
    this.#starting = undefined;
    if (!hasStarted) {
      const kept = this.#current === undefined ? "nothing is served" : "the last version that started is served";
      return this.#say(`this version did not start; ${kept} until a file changes`);
    }
    const last = this.#current;
    this.#current = next;
    this.#say(last === undefined ? `serving ${this.#front.served}` : "reloaded");
    last?.retire();
    if (!this.#all.has(next)) this.ended(next, "it ended when it had started");
  }

  ended(generation: Generation, problem: string): void {
    this.#all.delete(generation);
    this.#front.ended(generation);
    if (this.#current !== generation || this.#isClosing) return;
    this.#current = undefined;
    this.#say(`the app ended: ${problem}; nothing is served until a file changes`);
  }

  /** Ends every process. Running calls have a second for their answers. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    const all = [...this.#all];
    for (const generation of all) generation.retire();
    const ended = Promise.all(all.map((generation) => generation.ended));
    await withTimeout(ended, finishMs, "Cannot end").catch(() => {
      for (const generation of all) generation.kill();
    });
    await this.#front.close();
  }
}

async function openFront(given: AppArguments, setting: CliEnvironment): Promise<Front> {
  if (given.has("stdio")) return new StdioFront(process.stdin, setting.write);
  return HttpFront.listen(readPort(given, defaultPort, "Cannot serve"));
}

/**
 * Serves an app over HTTP on this machine, or over stdio, until the process ends, and reloads it when a file that it imports changes.
 * Each version of the app has its own process.
 *
 * @throws Refusal `USAGE` or `REFUSED`.
 */
export async function dev(args: readonly string[], setting: CliEnvironment): Promise<void> {
  const given = readAppArguments(args, devFlags, "Cannot serve");
  const isStdio = given.has("stdio");
  if (isStdio && given.text("port") !== undefined) throw usage(`Cannot serve: "--stdio" excludes "--port"`);
  const front = await openFront(given, setting);
  const say = (text: string): void => (isStdio ? setting.complain : setting.write)(`${escapeInvisible(text)}\n`);
  const reloader = new Reloader(front, say, (owner) => {
    const generation: Generation = new Generation(args, isStdio, {
      imported: (path) => owner.watch(path),
      frame: (text) => front.frame(text),
      ended: (problem) => owner.ended(generation, problem),
    });
    return generation;
  });
  reloader.watch(resolve(setting.cwd, given.module));
  void reloader.reload();
  await new Promise<never>(() => {
    onProcessEnd({ exit: true, ...(isStdio ? { input: process.stdin } : {}), end: () => reloader.close() });
  });
}
