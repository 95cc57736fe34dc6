/**
 * A view of the run for a person, over nothing but what agents have as well: `tsx examples/ci/view.ts --state DIR`. A
 * terminal shows a table that is written over, anything else a line for each change, until it is told to end. It may be
 * started before a coordinator is, and outlives it.
 */
import { projected, SurfaceError, unixSocket } from "surface-mcp";
import type { FaultReporter } from "surface-mcp";

import { agent, projectAgentSurface } from "./agent-surface.ts";
import { readViewOptions } from "./read-options.ts";
import { reportFault } from "./report-fault.ts";
import { runProgram } from "./run-program.ts";
import { socketIn } from "./state-dir.ts";
import { createBoardPrinter } from "./view/board-printer.ts";

const LONG_MS = 60_000;
const USAGE = "Usage: npm run view -- --state DIR, where DIR is the state directory of a coordinator";

/** Reads where to look; says how to tell it, and the exit code, where that was not told. */
function readState(args: readonly string[]): string | undefined {
  try {
    return readViewOptions(args).state;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}

function isUnreachable(cause: unknown): boolean {
  return cause instanceof SurfaceError && cause.code === "UNAVAILABLE";
}

/** Shows every board until the signal fires. */
async function show(state: string, signal: AbortSignal): Promise<void> {
  const link = projected(projectAgentSurface(state), unixSocket(socketIn(state)));
  // Nobody there is worth a line before anything is shown; after that, what is shown says so.
  let isTold = false;
  const onFault: FaultReporter = (fault) => {
    if (!isUnreachable(fault.cause)) return reportFault(fault);
    if (!isTold) console.error(`waiting for a coordinator at ${state}`);
    isTold = true;
  };
  const kept = link.keep?.({ onFault });
  const connection = await (kept ?? link).connect(agent);
  const printer = createBoardPrinter(process.stdout);
  try {
    for await (const reading of connection.client.nodes.readings({ signal })) {
      isTold = true;
      printer.show(reading);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    printer.close();
    await connection.close();
    await kept?.close();
  }
}

await runProgram(import.meta.url, async (args) => {
  const state = readState(args);
  if (state === undefined) return;
  const over = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => over.abort());
  // Whoever reads this has gone.
  process.stdout.on("error", () => over.abort());
  // While nobody is there nothing else holds this process: a library's timers are not to keep one from ending.
  const awake = setInterval(() => {}, LONG_MS);
  try {
    await show(state, over.signal);
  } finally {
    clearInterval(awake);
  }
});
