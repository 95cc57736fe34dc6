import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A server in a process of its own. Whoever started it stops it. */
export interface StartedServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** How long one may take until it says where it is, in milliseconds: a bound on a hang. */
const startMs = 60_000;

function readUrl({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let output = "";
    stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const [, found] = /(http:\/\/\S+)\s/.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
}

/**
 * Starts a script of the repository that serves over HTTP, and waits until it has written its address. What it writes on
 * standard error is seen. Rejects where it does not come up.
 */
export async function startServer(script: URL, args: readonly string[] = []): Promise<StartedServer> {
  const child = spawn(process.execPath, ["--import", "tsx", fileURLToPath(script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const late = new Promise<void>((resolve) => setTimeout(resolve, startMs).unref());
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
  };
  const url = await Promise.race([readUrl(child), ended, late]);
  if (typeof url !== "string") {
    await stop();
    throw new Error(`Starting ${script.pathname}: it said no address`);
  }
  // One scenario is about names, and asks for this one.
  return { url: url.replace("127.0.0.1", "localhost"), stop };
}
