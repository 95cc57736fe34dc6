import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { FaceFigures } from "../face-figures.ts";
import type { FaceFiguresView } from "../face-figures.ts";
import type { Printer } from "../agent/printer.ts";
import type { CoordinatorSetting } from "./coordinator-process.ts";
import { toFaceArguments } from "./face-arguments.ts";

/** A face that serves over HTTP, in a process of its own. Whoever started it ends it. */
export interface HttpFace {
  readonly pid: number;
  readonly url: string;
  /** Resolves when it is gone. */
  readonly gone: Promise<unknown>;
  /** Asks it for its figures. */
  figures(): Promise<FaceFiguresView>;
  /** Sends it SIGTERM, and kills it where that is not enough. Resolves with its exit code. Callable twice. */
  end(): Promise<number | null>;
}

const PROGRAM = fileURLToPath(new URL("../serve-http.ts", import.meta.url));
/** How long it may take to end: what runs has ten seconds of that. */
const END_MS = 15_000;

/** What a face is started with, besides its pipeline. */
export interface HttpFaceSetting {
  readonly coordinator: CoordinatorSetting;
  /** 0: any that is free. */
  readonly port: number;
  /** Shows what the face writes down. */
  readonly printer: Printer;
}

/**
 * Starts a face; resolves once it is served.
 *
 * @throws Error when it ends before that; its log says why.
 */
export async function startHttpFace({ coordinator, port, printer }: HttpFaceSetting): Promise<HttpFace> {
  const args = [...toFaceArguments(coordinator), "--port", String(port)];
  // In a session of its own, so that a Ctrl-C reaches only the process that ends all others in order.
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), PROGRAM, ...args], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true,
  });
  const gone = once(child, "exit");
  const { stdout, stderr } = child;
  // As they are asked for above, both are pipes.
  if (stdout === null || stderr === null) throw new Error("start the face: it has no output");
  createInterface({ input: stderr }).on("line", (line) => {
    printer.step(printer.paint("dim", `the face's log: ${line}`));
  });
  const firstLine = once(createInterface({ input: stdout }), "line");
  const line = await Promise.race([firstLine.then(([text]) => String(text)), gone.then(() => undefined)]);
  if (line === undefined || child.pid === undefined) throw new Error("start the face: it ended before it was served");
  return {
    pid: child.pid,
    url: line,
    gone,
    async figures() {
      const said = once(child, "message");
      child.send("figures");
      const [figures] = await Promise.race([said, gone.then(() => [])]);
      return FaceFigures.parse(figures);
    },
    async end() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
      await gone;
      clearTimeout(timer);
      return child.exitCode;
    },
  };
}
