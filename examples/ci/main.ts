/** Starts the pipeline's MCP server as a child process and lets an agent drive it until it is green. */
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { createPrinter } from "./agent/printer.ts";
import type { Palette } from "./agent/palette.ts";
import type { Printer } from "./agent/printer.ts";
import { runAgent } from "./agent.ts";
import type { Outcome } from "./agent.ts";
import { readPipelineFile } from "./engine/pipeline-file.ts";
import { readOptions } from "./read-options.ts";

const USAGE = `Usage: npm start -- [--pipeline FILE]

Runs a CI pipeline for real, serves it over MCP, and lets an agent in another process drive it until it is green.

  --pipeline FILE  the pipeline to run; the repository's own checks by default. examples/ci/pipelines has more
  -h, --help       this text

Exit codes: 0 the pipeline is green, 1 it is red and the agent found nothing to mend, 2 it could not be run.`;

/** What a shell adds to the number of a signal that ended a process. */
const SIGNAL_EXIT = 128;
const EXIT = { green: 0, red: 1, unusable: 2 } as const;

/** The same environment for the server, and through it for the commands of the pipeline. */
function createTransport(pipeline: string): StdioClientTransport {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value;
  return new StdioClientTransport({
    command: process.execPath,
    args: [
      "--import",
      import.meta.resolve("tsx"),
      fileURLToPath(new URL("./server.ts", import.meta.url)),
      "--pipeline",
      pipeline,
    ],
    env,
  });
}

/** Drives one pipeline from the start of its server to its end. */
async function drivePipeline(file: string, printer: Printer): Promise<number> {
  const { name, nodes } = await readPipelineFile(file);
  const title = printer.paint("strong", `An agent drives the pipeline "${name}" over MCP`);
  printer.headline(`${title} ${printer.paint("dim", `(${nodes.length} nodes)`)}\n`);
  const client = new Client({ name: "ci-agent", version: "1.0.0" });
  let leaving: number | undefined;
  // The server ends with its input, and ends every command before it goes.
  const leave = (signal: NodeJS.Signals): void => {
    leaving = SIGNAL_EXIT + constants.signals[signal];
    void client.close();
  };
  process.once("SIGINT", leave).once("SIGTERM", leave);
  try {
    await client.connect(createTransport(file));
    const outcome = await runAgent(client, printer);
    printer.headline(toLastLine(outcome, printer.paint));
    return EXIT[outcome.verdict];
  } catch (error) {
    if (leaving !== undefined) return leaving;
    throw error;
  } finally {
    printer.close();
    await client.close();
  }
}

function toLastLine({ verdict, failed, held }: Outcome, paint: Palette): string {
  if (verdict === "green") return `${paint("good", "GREEN")}: every node has passed`;
  const rest = held.length === 0 ? "" : `; ${held.join(", ")} could not run`;
  return `${paint("bad", "RED")}: ${failed.join(", ")} failed, and the agent found nothing more to mend${rest}`;
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
    return await drivePipeline(options.pipeline, createPrinter(process.stdout));
  } catch (error) {
    console.error(toMessage(error));
    return EXIT.unusable;
  }
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

process.exitCode = await main(process.argv.slice(2));
