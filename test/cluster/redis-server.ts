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
    // Its socket is there a moment before it accepts a connection.
    const started = until(() =>
      this.run("PING").then(
        () => true,
        () => false,
      ),
    );
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
  run(...args: readonly string[]): Promise<string> {
    const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
    return new Promise((resolve, reject) => {
      const socket = createConnection(this.path).setEncoding("utf8");
      let reply = "";
      socket.on("data", (text: string) => {
        reply += text;
        if (!reply.endsWith("\r\n")) return;
        socket.destroy();
        resolve(reply);
      });
      socket.on("error", reject);
      socket.on("close", () => reject(new Error(`Redis closed the connection of ${args[0]}`)));
      socket.write(`*${args.length}\r\n${parts.join("")}`);
    });
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
