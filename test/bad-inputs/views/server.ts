import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { cell, cellSource, defineSurface, mcp, mcpResource, operationRegistry, stdio } from "../../../src/index.ts";
import { http } from "../../../src/http/index.ts";

// Serves an app of views to a host that means no good: over stdio by the view that it is started with, or over HTTP, where it
// writes the port. What reaches a handler is told on standard error, one JSON line a mark.

function mark(name: string, value: unknown): void {
  process.stderr.write(`mark ${JSON.stringify([name, value])}\n`);
}

const hub = operationRegistry();
hub.register({ name: "echo", type: "query", inputSchema: z.object({ by: z.number() }) }, ({ by }) => {
  mark("echo", by);
  return { by };
});
hub.register({ name: "loop", type: "query", canCall: ["hub.*"] }, async (_input, { call }) => {
  mark("loop", 1);
  return call("hub.pool");
});
hub.register({ name: "pool", type: "query", canCall: ["hub.*"] }, async (_input, { call }) => call("hub.loop"));
hub.register({ name: "deaf", type: "query", timeoutMs: 300 }, async () => {
  mark("deaf", "begun");
  await delay(1500);
  mark("deaf", "over");
  return { heard: false };
});

const plant = defineSurface("plant", { heat: mcpResource(cell({ schema: z.number() })) });

const app = mcp(plant, {
  uriPrefix: "app://",
  version: "1.0.0",
  onFault: ({ where }) => mark("fault", where),
})
  .implement({ heat: cellSource(1) })
  .mount("hub", hub)
  .views({ hub: { face: "gateway" }, readonly: { readOnly: true }, locked: { deny: "it is locked" } });

const [, , how = "", surface = "default"] = process.argv;
if (how === "http") {
  const serving = await app.serve(http({ port: 0, drainMs: 0 }));
  mark("url", serving.url);
} else {
  await stdio({ surface }).serve(app);
}
