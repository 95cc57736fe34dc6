import { fork, type ChildProcess } from "node:child_process";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { isJsonObject, toList, type JsonObject } from "../../schema/json.ts";
import { drainMs } from "./serve-generation.ts";

/** Milliseconds until a generation must have started, an endless loop included. More than its own bound, whose message says more. */
const startMs = 35_000;

/** Milliseconds from the end of the drain until the process is killed. */
const endMs = 2000;

/** Callbacks of a generation. */
export interface GenerationEvents {
  /** Takes the path of a file that the app imports. */
  imported(path: string): void;
  /** Takes a message for the client. */
  frame(text: string): void;
  /** Called once when the process has ended. */
  ended(problem: string): void;
}

/** Returns the files that Node reports to import, without those of installed packages. */
function readImports(message: JsonObject): readonly string[] {
  const texts = [...toList(message["watch:import"]), ...toList(message["watch:require"])].filter(
    (text) => typeof text === "string",
  );
  const paths = texts.map((text) => (text.startsWith("file:") ? fileURLToPath(new URL(text)) : text));
  return paths.filter((path) => isAbsolute(path) && !/[\\/]node_modules[\\/]/.test(path));
}

/** One version of the app, in a process. */
export class Generation {
  /** The port of its HTTP server; `undefined` with `--stdio`, and until it is ready. */
  port: number | undefined;
  /** Resolves with whether it has started. */
  readonly ready: Promise<boolean>;
  /** Resolves when its process has ended. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  #killTimer: NodeJS.Timeout | undefined;

  /** @param args - the arguments of `dev`. */
  constructor(args: readonly string[], isStdio: boolean, events: GenerationEvents) {
    const [, program = ""] = process.argv;
    // Standard output belongs to the protocol with --stdio.
    const child = fork(program, ["dev-generation", ...args], {
      stdio: ["ignore", isStdio ? 2 : 1, 2, "ipc"],
      // Node then reports each imported file, as for `node --watch`.
      env: { ...process.env, WATCH_REPORT_DEPENDENCIES: "1" },
    });
    this.#child = child;
    this.ended = new Promise((resolve) => child.once("exit", () => resolve()));
    this.ready = new Promise((resolve) => {
      const late = setTimeout(() => child.kill("SIGKILL"), startMs);
      const settle = (isReady: boolean): void => {
        clearTimeout(late);
        resolve(isReady);
      };
      child.on("message", (message) => {
        if (!isJsonObject(message)) return;
        for (const path of readImports(message)) events.imported(path);
        const { text, port, kind } = message;
        if (typeof text === "string") events.frame(text);
        if (kind !== "ready") return;
        this.port = typeof port === "number" ? port : undefined;
        settle(true);
      });
      child.once("error", () => settle(false));
      child.once("exit", (code, signal) => {
        clearTimeout(this.#killTimer);
        settle(false);
        events.ended(signal === null ? `it ended with code ${code}` : `${signal} ended it`);
      });
    });
  }

  send(frame: string): void {
    if (this.#child.connected) this.#child.send({ frame });
  }

  /** Lets running calls end, and then ends the process. */
  retire(): void {
    if (this.#child.connected) this.#child.send({ retire: true });
    this.#killTimer ??= setTimeout(() => this.kill(), drainMs + endMs);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
