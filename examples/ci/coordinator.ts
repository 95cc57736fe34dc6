/**
 * The process that owns a pipeline: `tsx examples/ci/coordinator.ts --state DIR [--pipeline FILE]`. It runs the commands,
 * writes down what it does in DIR, and serves its surface on a socket there. Killed and started again, it goes on where it
 * was.
 *
 * `--tied`: it ends with its standard input. `--temporary`: its end takes DIR along.
 */
import { rm } from "node:fs/promises";
import { implementProjection, implementSurface, implementSurfaces, listenUnixSocket } from "surface-mcp";
import { surfaceClientRef, SurfaceError } from "surface-mcp";

import { projectAgentSurface } from "./agent-surface.ts";
import { LISTENED_ALREADY } from "./bring-up.ts";
import { openSite } from "./open-site.ts";
import { ownState } from "./own-state.ts";
import { createPipelineHandlers } from "./pipeline-handlers.ts";
import { pipeline } from "./pipeline-surface.ts";
import { readCoordinatorOptions } from "./read-options.ts";
import type { CoordinatorOptions } from "./read-options.ts";
import { makeStateDir, socketIn } from "./state-dir.ts";

/** Resolves when the process is asked to end. A second signal must not cut short what the first one has begun. */
function asked({ tied }: CoordinatorOptions): Promise<unknown> {
  const signals = ["SIGINT", "SIGTERM"].map((signal) => new Promise((resolve) => process.on(signal, resolve)));
  const input = tied
    ? [new Promise((resolve) => process.stdin.on("error", resolve).on("close", resolve).resume())]
    : [];
  return Promise.race([...signals, ...input]);
}

async function coordinate(options: CoordinatorOptions): Promise<void> {
  const end = asked(options);
  const state = await makeStateDir(options.state);
  // Who owns it may read it; who does not has touched nothing of it so far.
  const owned = await ownState(state);
  try {
    await serve({ ...options, state }, end);
    // By its owner still: the next one is not to lose what it has made.
    if (options.temporary) await rm(state, { recursive: true, force: true });
  } finally {
    await owned.release();
  }
}

async function serve(options: CoordinatorOptions, end: Promise<unknown>): Promise<void> {
  const site = await openSite({ file: options.pipeline, state: options.state });
  const live = implementSurface(pipeline, createPipelineHandlers(site));
  // Beside it, on the same socket, what agents have: for those who would connect without projecting it themselves.
  const agent = implementProjection(projectAgentSurface(options.state), surfaceClientRef(live));
  const both = implementSurfaces({ pipeline: live, agent });
  try {
    // Reached from here on; what would begin something waits until what was cut short goes on.
    const listening = await listenUnixSocket(both, socketIn(options.state));
    const interrupted = await site.takeUp();
    console.log(`${process.pid} listens at ${listening.path}`);
    if (interrupted.length > 0) console.log(`started again what was interrupted: ${interrupted.join(", ")}`);
    await end;
    await listening.close();
  } finally {
    await both.close();
    await agent.close();
    await live.close();
    await site.close();
  }
}

try {
  await coordinate(readCoordinatorOptions(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof SurfaceError && error.code === "SOCKET_IN_USE" ? LISTENED_ALREADY : 2;
}
// What still holds the process is a standard input that nobody has closed.
process.exit();
