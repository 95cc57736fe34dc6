/**
 * The agents' face of a pipeline over HTTP: `tsx examples/ci/serve-http.ts --state DIR [--pipeline FILE] [--port N]`. It is
 * the app of `mcp.ts`, served to however many; its first line says where. Whoever has started it with a channel may ask over
 * that for its figures, and it ends with them.
 */
import { unixSocket } from "surface-mcp";
import { http } from "surface-mcp/http";

import type { FaceFigures } from "./face-figures.ts";
import { createFace } from "./mcp.ts";
import { readHttpFaceOptions } from "./read-options.ts";
import { runProgram } from "./run-program.ts";
import { socketIn } from "./state-dir.ts";
import { WatchCounter } from "./watch-counter.ts";
import type { z } from "zod";

await runProgram(import.meta.url, async (args) => {
  const { port, ...site } = readHttpFaceOptions(args);
  const nodes = new WatchCounter("nodes");
  const app = createFace(site, nodes.through(unixSocket(socketIn(site.state))));
  const serving = await app.serve(http({ port }));
  process.on("message", () => {
    const figures: z.input<typeof FaceFigures> = { stats: serving.stats(), watches: nodes.read() };
    process.send?.(figures, undefined, undefined, () => {});
  });
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  console.log(serving.url);
});
