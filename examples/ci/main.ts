/**
 * Four processes and a kill: this one starts an agent, which starts its face over stdio as a host does, and through that
 * the coordinator of a pipeline, which is not up before. In the middle of the run this one kills the coordinator, starts it
 * again, and shows what that has cost.
 */
import { constants, tmpdir } from "node:os";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";

import { createPrinter } from "./agent/printer.ts";
import { readPipelineFile } from "./engine/pipeline-file.ts";
import { readOptions } from "./read-options.ts";
import type { Options } from "./read-options.ts";
import { play } from "./stage/play.ts";

const USAGE = `Usage: npm start -- [--pipeline FILE] [--state DIR] [--keep-going] [--no-kill]

Lets an agent drive a real CI pipeline over MCP until it is green: the face that it talks to starts the process that runs
the commands. In the middle of the run that process is killed and started again, and the others go on.

  --pipeline FILE  the pipeline to run; the repository's own checks by default. examples/ci/pipelines has more
  --state DIR      where the coordinator keeps its socket and its journal; a temporary directory by default
  --keep-going     do not stop at the first red node what does not need it
  --no-kill        kill nobody
  -h, --help       this text

Exit codes: 0 the pipeline is green, 1 it is red and the agent found nothing to mend, 2 it could not be run.`;

/** What a shell adds to the number of a signal that ended a process. */
const SIGNAL_EXIT = 128;
const EXIT = { green: 0, red: 1, unusable: 2 } as const;

async function drivePipeline({ pipeline, state, kill, keepGoing }: Options): Promise<number> {
  const { name, nodes } = await readPipelineFile(pipeline);
  const printer = createPrinter(process.stdout);
  const title = printer.paint("strong", `An agent drives the pipeline "${name}" over MCP`);
  printer.headline(`${title} ${printer.paint("dim", `(${nodes.length} nodes)`)}\n`);
  const leaving = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => leaving.abort(signal));
  const dir = state ?? (await mkdtemp(join(tmpdir(), "ci-state-")));
  try {
    const setting = { pipeline, state: dir, temporary: state === undefined };
    const verdict = await play({ setting, kill, keepGoing, printer, signal: leaving.signal });
    return EXIT[verdict];
  } catch (error) {
    if (leaving.signal.aborted) return SIGNAL_EXIT + constants.signals[leaving.signal.reason as NodeJS.Signals];
    throw error;
  } finally {
    printer.close();
    if (state === undefined) await rm(dir, { recursive: true, force: true });
  }
}

async function main(args: readonly string[]): Promise<number> {
  let options;
  try {
    options = readOptions(args);
  } catch (error) {
    console.error(`${toMessage(error)}\n\n${USAGE}`);
    return EXIT.unusable;
  }
  if (options.help) {
    console.log(USAGE);
    return EXIT.green;
  }
  try {
    return await drivePipeline(options);
  } catch (error) {
    console.error(toMessage(error));
    return EXIT.unusable;
  }
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

process.exitCode = await main(process.argv.slice(2));
