import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./until.ts";

const isInstalled = spawnSync("redis-server", ["--version"]).status === 0;
const isRequired = process.env["SURFACE_MCP_REDIS"] === "required";

/** Whether tests over a real Redis run. Where `SURFACE_MCP_REDIS` is `required` they fail without one. */
export const hasRedis: boolean = isInstalled || isRequired;

/** Stands in the name of tests that are skipped. */
export const whyNoRedis: string = hasRedis
  ? ""
  : " (skipped: redis-server is not installed; apt-get install redis-server)";

/** Returns true if a server listens: the file of its socket is there a moment before. */
function canConnect(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    const end = (isConnected: boolean): void => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}

/** A `redis-server` on a Unix socket in a temporary folder: no port can be taken. */
export class RedisServer {
  readonly #folder = mkdtempSync(join(tmpdir(), "surface-redis-"));
  readonly #options: readonly string[];
  #process: ChildProcess | undefined;

  constructor(...options: readonly string[]) {
    this.#options = options;
  }

  /** The path of its socket. */
  get path(): string {
    return join(this.#folder, "socket");
  }

  /** Starts it, empty. */
  async start(): Promise<void> {
    rmSync(this.path, { force: true });
    const args = ["--port", "0", "--unixsocket", this.path, "--save", "", "--appendonly", "no", "--dir", this.#folder];
    const child = spawn("redis-server", [...args, "--enable-debug-command", "yes", ...this.#options], {
      stdio: "ignore",
    });
    const failed = once(child, "error");
    this.#process = child;
    const started = until(() => canConnect(this.path));
    await Promise.race([started, failed.then(([cause]) => Promise.reject(cause))]);
    failed.catch(() => {});
  }

  /** Kills it, and what it holds. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined) return;
    const ended = once(child, "exit");
    child.kill("SIGCONT");
    child.kill("SIGKILL");
    await ended;
  }

  /** Stops the process, which keeps its connections and answers nothing. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Runs a command on a connection made for it. Resolves with the reply as it was written. */
  async run(...args: readonly string[]): Promise<string> {
    const socket = createConnection(this.path);
    socket.setEncoding("utf8");
    const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
    socket.write(`*${args.length}\r\n${parts.join("")}`);
    let reply = "";
    socket.on("data", (text: string) => (reply += text));
    await until(() => reply.endsWith("\r\n"));
    socket.destroy();
    return reply;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
