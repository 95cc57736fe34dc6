import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../architecture/source.ts";

/** What a process had loaded when it was asked: files and URLs of modules, and the names of node's own. */
export interface Trace {
  readonly modules: readonly string[];
  readonly builtins: readonly string[];
}

const fixtures = join(root, "test", "pins", "fixtures");

/** The first line of a stream that `pick` accepts. */
async function nextLine(stream: NodeJS.ReadableStream, pick: (line: string) => boolean): Promise<string> {
  const lines = createInterface({ input: stream });
  try {
    for await (const line of lines) if (pick(line)) return line;
  } finally {
    lines.close();
  }
  throw new Error("Reading from the traced server: it ended before it said what was awaited");
}

async function end(server: ChildProcessWithoutNullStreams): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, "exit");
  server.stdin.end();
  await gone;
}

/** Starts a fixture server, sends it `requests`, waits for an answer to the last, and says what it loaded until then. */
export async function traceServer(
  requests: readonly { id: number }[],
  fixture = "stdio-server.mjs",
): Promise<{ answer: string; trace: Trace }> {
  const preload = join(fixtures, "trace-modules.mjs");
  const server = spawn(process.execPath, ["--import", preload, join(fixtures, fixture)], { cwd: root });
  try {
    const last = requests.at(-1)?.id ?? 0;
    const answered = nextLine(server.stdout, (line) => JSON.parse(line).id === last);
    for (const request of requests) server.stdin.write(`${JSON.stringify(request)}\n`);
    const answer = await answered;
    const traced = nextLine(server.stderr, (line) => line.startsWith("TRACE "));
    server.kill("SIGUSR2");
    return { answer, trace: JSON.parse((await traced).slice("TRACE ".length)) };
  } finally {
    await end(server);
  }
}
