/**
 * A view of the run for a person, over nothing but what agents have as well: `tsx examples/ci/view.ts --state DIR`. A
 * terminal shows a table that is written over, anything else a line for each change, until it is told to end. It may be
 * started before a coordinator is, and outlives it.
 */
import { projected, unixSocket } from "surface-mcp";

import { agent, projectAgentSurface } from "./agent-surface.ts";
import { readViewOptions } from "./read-options.ts";
import { runProgram } from "./run-program.ts";
import { socketIn } from "./state-dir.ts";
import { createBoardPrinter } from "./view/board-printer.ts";

const LONG_MS = 60_000;

await runProgram(import.meta.url, async (args) => {
  const { state } = readViewOptions(args);
  const over = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => over.abort());
  // Whoever reads this has gone.
  process.stdout.on("error", () => over.abort());
  const link = projected(projectAgentSurface(state), unixSocket(socketIn(state)));
  const connection = await link.connect(agent);
  const printer = createBoardPrinter(process.stdout);
  // While nobody is there nothing else holds this process: a library's timers are not to keep one from ending.
  const awake = setInterval(() => {}, LONG_MS);
  try {
    for await (const reading of connection.client.nodes.readings({ signal: over.signal })) printer.show(reading);
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    clearInterval(awake);
    printer.close();
    await connection.close();
  }
});
