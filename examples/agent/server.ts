/** The process that an MCP host starts: `tsx examples/agent/server.ts DIR`; with `--http` it serves all who come. */
import { http } from "surface-mcp/http";

import { createAgentApp } from "./app.ts";

const [directory, how] = process.argv.slice(2);
if (directory === undefined) {
  console.error("Usage: server.ts DIR [--http]");
  process.exitCode = 2;
} else if (how === "--http") {
  const { url } = await createAgentApp(directory).serve(http({ port: 0 }));
  console.log(url);
} else {
  await createAgentApp(directory).serve();
}
