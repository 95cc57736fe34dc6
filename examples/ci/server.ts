/** The process that an MCP host starts: `tsx examples/ci/server.ts [--pipeline FILE]`. It speaks MCP on stdio. */
import { stdio } from "surface-mcp";

import { createPipelineApp } from "./mcp.ts";
import { openSite } from "./open-site.ts";
import { readOptions } from "./read-options.ts";

const site = await openSite(readOptions(process.argv.slice(2)).pipeline).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
});

// A second signal must not cut short what the first one has begun, or child processes would stay behind.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});

const serving = await createPipelineApp(site).serve(stdio({ exit: false }));
await serving.closed;
await site.close();
process.exit(0);
