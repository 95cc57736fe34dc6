/**
 * The process that an MCP host starts: `tsx examples/ci/mcp.ts --state DIR`. It speaks MCP on stdio, and is a face and
 * nothing more: the pipeline is run by the coordinator whose state directory it is told, which may come and go.
 */
import { unixSocket } from "surface-mcp";

import { createPipelineApp } from "./pipeline-app.ts";
import { readFaceOptions } from "./read-options.ts";
import { socketIn } from "./state-dir.ts";

/** A line for the host's log; the agent was told what it may know. */
function toLine(where: string, cause: unknown): string {
  return `[ci] ${where}: ${cause instanceof Error ? cause.message : String(cause)}`;
}

try {
  const { state } = readFaceOptions(process.argv.slice(2));
  const onFault = ({ where, cause }: { readonly where: string; readonly cause: unknown }): void =>
    console.error(toLine(where, cause));
  await createPipelineApp(unixSocket(socketIn(state)), { onFault }).serve();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
