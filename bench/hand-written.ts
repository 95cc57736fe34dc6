/**
 * What the server under test is compared with: the same tools and the same resource, written by hand on the SDK, over
 * standard input and output.
 */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { HandWritten } from "./tools/hand-written-server.ts";
import { readOptions } from "./tools/read-options.ts";

const written = new HandWritten(readOptions().tools);

serveStdio(({ era }) => {
  // In the modern era the SDK itself knows who listens to what.
  let isWatched = era === "modern";
  const server = written.createServer(era === "modern" ? undefined : (watched) => (isWatched = watched));
  written.announce = () => {
    if (isWatched) void server.sendResourceUpdated({ uri: written.uri });
  };
  return server;
});
if (process.send !== undefined) (await import("./tools/obey-driver.ts")).obeyDriver(() => written.change());
