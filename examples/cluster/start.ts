/** Starts a Redis server, replicas of the app, and the proxy in front of them. */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createProxy } from "./proxy.ts";

/** A Redis server on a Unix socket, without files. */
export class RedisServer {
  readonly socket: string;
  readonly #directory: string;
  #process: ChildProcess | undefined;

  private constructor(directory: string) {
    this.#directory = directory;
    this.socket = join(directory, "redis.sock");
  }

  /** Starts a server; `undefined` if `redis-server` is not installed. */
  static async start(): Promise<RedisServer | undefined> {
    const server = new RedisServer(await mkdtemp(join(tmpdir(), "redis-")));
    if (await server.restart()) return server;
    await rm(server.#directory, { recursive: true });
    return undefined;
  }

  /** Starts the server again, empty. Returns `false` if it is not installed. */
  async restart(): Promise<boolean> {
    const options = ["--port", "0", "--unixsocket", this.socket, "--save", "", "--dir", this.#directory];
    const started = spawn("redis-server", options, { stdio: ["ignore", "pipe", "ignore"] });
    this.#process = started;
    return new Promise((resolve) => {
      started.once("error", () => resolve(false));
      started.stdout.on("data", (text: Buffer) => text.includes("ready to accept") && resolve(true));
    });
  }

  async kill(): Promise<void> {
    const ended = this.#process;
    this.#process = undefined;
    if (ended === undefined) return;
    ended.kill("SIGKILL");
    await once(ended, "exit");
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.#directory, { recursive: true });
  }
}

/** A replica in a process of its own. */
export interface Replica {
  readonly port: number;
  readonly process: ChildProcess;
}

const program = fileURLToPath(new URL("./replica.ts", import.meta.url));

/** Starts a replica. */
export async function startReplica(socket: string): Promise<Replica> {
  const started = fork(program, [socket], { execArgv: ["--import", import.meta.resolve("tsx")] });
  const port = await new Promise<number>((resolve, reject) => {
    started.once("message", (sent) => resolve(Number(sent)));
    started.once("exit", () => reject(new Error("A replica did not start")));
  });
  return { port, process: started };
}

/** Replicas behind a proxy. Call `close()` when done. */
export class Replicas {
  readonly running: Replica[] = [];
  readonly #socket: string;
  readonly #proxy = createProxy(() => this.running.map(({ port }) => port));

  private constructor(socket: string) {
    this.#socket = socket;
  }

  static async start(socket: string, count: number): Promise<Replicas> {
    const replicas = new Replicas(socket);
    await Promise.all(Array.from({ length: count }, () => replicas.add()));
    replicas.#proxy.listen(0, "127.0.0.1");
    await once(replicas.#proxy, "listening");
    return replicas;
  }

  /** URL of the proxy. */
  get url(): string {
    // A TCP server has an address of this form.
    return `http://127.0.0.1:${(this.#proxy.address() as AddressInfo).port}/mcp`;
  }

  async add(): Promise<Replica> {
    const replica = await startReplica(this.#socket);
    this.running.push(replica);
    return replica;
  }

  /** Kills a replica by SIGKILL, as a machine that loses power would. The proxy notices by itself. */
  async kill(replica: Replica): Promise<void> {
    replica.process.kill("SIGKILL");
    await once(replica.process, "exit");
    this.running.splice(this.running.indexOf(replica), 1);
  }

  async close(): Promise<void> {
    this.#proxy.close();
    this.#proxy.closeAllConnections();
    await Promise.all([...this.running].map((replica) => this.kill(replica)));
  }
}
