import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mcp } from "../../../src/builder/mcp.ts";
import { childProcess } from "../../../src/links/child-process.ts";
import type { Link } from "../../../src/links/link.ts";
import { unixSocket } from "../../../src/links/unix-socket.ts";
import { webSocket } from "../../../src/links/web-socket.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { afterThis, newFolder } from "../../links/unix/support.ts";
import { Control, type Kind, type Mode } from "./control.ts";
import { shop } from "./shop.ts";

/** How a face reaches its backend. */
export type Transport = "unix" | "web" | "stdio";

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Waits for something to be so; a bound on a hang is what the test has. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

/** A face, and the backend behind it: of one transport, killed and started again as a test asks. */
export class Stage {
  readonly control: Control;
  readonly #spawned: () => ChildProcess | undefined;

  constructor(control: Control, spawned: () => ChildProcess | undefined) {
    this.control = control;
    this.#spawned = spawned;
  }

  /** Starts a backend; over stdio the link does that by itself, when it dials. */
  async start(): Promise<void> {
    const before = this.control.count("listening");
    const child = this.#spawned();
    if (child === undefined) return;
    afterThis(() => child.kill("SIGKILL"));
    await until(() => this.control.count("listening") > before || child.exitCode !== null);
    if (child.exitCode !== null) throw new Error(`Starting a backend: it ended with ${child.exitCode}`);
  }

  /** Kills the newest backend, without a word. */
  kill(): void {
    const pids = this.control.lines().filter((line) => line.startsWith("pid "));
    process.kill(Number(pids.at(-1)?.slice(4)), "SIGKILL");
  }

  /** Waits until a handler, or who plays it, was reached so often. */
  async reached(member: string, times = 1): Promise<void> {
    await until(() => this.control.count(member) >= times);
  }
}

/** Opens an app over a backend, as an MCP client sees it; all of it ends with the test. */
export async function openStage(script: string, transport: Transport, first: { kind: Kind; mode: Mode }) {
  const folder = await newFolder();
  const control = new Control(folder);
  control.set(first.kind, first.mode);
  const address = transport === "web" ? String(await freePort()) : join(folder, "s");
  const args = [script, transport, address, folder];
  const links: Record<Transport, () => Link> = {
    unix: () => unixSocket(address),
    web: () => webSocket(`ws://127.0.0.1:${address}/`),
    stdio: () => childProcess(process.execPath, args),
  };
  const stage = new Stage(control, () =>
    transport === "stdio" ? undefined : spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] }),
  );
  await stage.start();
  const faults: unknown[] = [];
  const app = mcp(shop, { version: "1.0.0", onFault: (fault) => void faults.push(fault) }).bridge(links[transport]());
  const client = createTestClient(app);
  afterThis(() => client.close());
  return { stage, control, client, faults };
}
