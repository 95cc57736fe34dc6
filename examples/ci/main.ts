/**
 * Four processes and a kill: this one starts an agent, which starts its face over stdio as a host does, and through that
 * the coordinator of a pipeline, which is not up before. In the middle of the run this one kills the coordinator, starts it
 * again, and shows what that has cost. With `--http` the face is there before the agent, and two more agents look on.
 */
import { constants, tmpdir } from "node:os";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";

import { createPrinter } from "./agent/printer.ts";
import type { Printer } from "./agent/printer.ts";
import { readPipelineFile } from "./engine/pipeline-file.ts";
import { readOptions } from "./read-options.ts";
import type { Options } from "./read-options.ts";
import type { CoordinatorSetting } from "./stage/coordinator-process.ts";
import { holdOpen } from "./stage/hold-open.ts";
import { openHttpHouse } from "./stage/http-house.ts";
import { play } from "./stage/play.ts";
import { createStdioHouse } from "./stage/stdio-house.ts";
import { showViews } from "./views/show-views.ts";

const USAGE = `Usage: npm run demo:ci -- [--pipeline FILE] [--state DIR] [--keep-going] [--no-kill] [--http [--hold | --views] [--port N]]

Lets an agent drive a real CI pipeline over MCP until it is green: the face that it talks to starts the process that runs
the commands. In the middle of the run that process is killed and started again, and the others go on.

  --pipeline FILE  the pipeline to run; the repository's own checks by default. examples/ci/pipelines has more
  --state DIR      where the coordinator keeps its socket and its journal; a temporary directory by default
  --keep-going     do not stop at the first red node what does not need it
  --no-kill        kill nobody
  --http           one face over HTTP, and three agents at once: one drives, two look on
  --hold           nobody drives: serve over HTTP until Ctrl-C, and say what to try
  --views          three agents come by three views of one face: what each sees, and is refused
  --port N         where to serve over HTTP; any port that is free by default
  -h, --help       this text

Exit codes: 0 the pipeline is green, 1 it is red and the agent found nothing to mend, 2 it could not be run.`;

/** What a shell adds to the number of a signal that ended a process. */
const SIGNAL_EXIT = 128;
const EXIT = { green: 0, red: 1, unusable: 2 } as const;

/** What is done, and for how long at most. */
interface Plan {
  readonly options: Options;
  readonly setting: CoordinatorSetting;
  readonly printer: Printer;
  readonly signal: AbortSignal;
}

async function carryOut({ options, setting, printer, signal }: Plan): Promise<number> {
  const { kill, keepGoing, http } = options;
  const stage = { coordinator: setting, port: http?.port ?? 0, printer, signal };
  if (http?.hold === true || http?.views === true) {
    await (http.hold ? holdOpen(stage) : showViews(stage));
    return EXIT.green;
  }
  const house = http === undefined ? createStdioHouse(setting) : await openHttpHouse(stage);
  try {
    return EXIT[await play({ setting, house, kill, keepGoing, printer, signal })];
  } finally {
    await house.end();
  }
}

function toTitle({ http }: Options): string {
  if (http === undefined) return "An agent drives";
  if (http.views) return "Three agents, and each sees something else of";
  return http.hold ? "Anybody may drive" : "An agent drives, and two look on:";
}

async function drivePipeline(options: Options): Promise<number> {
  const { pipeline, state } = options;
  const { name, nodes } = await readPipelineFile(pipeline);
  const printer = createPrinter(process.stdout);
  const title = printer.paint("strong", `${toTitle(options)} the pipeline "${name}" over MCP`);
  printer.headline(`${title} ${printer.paint("dim", `(${nodes.length} nodes)`)}\n`);
  const leaving = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => leaving.abort(signal));
  const dir = state ?? (await mkdtemp(join(tmpdir(), "ci-state-")));
  try {
    const setting = { pipeline, state: dir, temporary: state === undefined };
    return await carryOut({ options, setting, printer, signal: leaving.signal });
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
