import { mcp } from "../../../src/builder/mcp.ts";
import { projected } from "../../../src/links/projected.ts";
import { unixSocket } from "../../../src/links/unix-socket.ts";
import { stdio } from "../../../src/stdio/stdio.ts";
import { gauge } from "./plant.ts";

// Serves the projection of what answers at a path. Faults are told on standard error, one JSON line a mark.

const [, , path = ""] = process.argv;

const app = mcp(gauge, {
  uriPrefix: "app://",
  version: "1.0.0",
  onFault: ({ where }) => void process.stderr.write(`mark ${JSON.stringify(["fault", where])}\n`),
}).bridge(projected(gauge, unixSocket(path)));

await stdio().serve(app);
