/** The process that an MCP host starts: `tsx examples/game/server.ts`; with `--http` it serves one game to all who come. */
import { http } from "surface-mcp/http";

import { createGameApp } from "./app.ts";

const app = createGameApp();
if (process.argv.includes("--http")) {
  const { url } = await app.serve(http({ port: 0 }));
  console.log(url);
} else {
  await app.serve();
}
