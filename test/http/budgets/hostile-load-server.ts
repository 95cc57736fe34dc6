import { setTimeout as delay } from "node:timers/promises";
import { bearer, http } from "../../../src/http/index.ts";
import { cell, cellSource, defineSurface, mcp, mcpResource } from "../../../src/index.ts";
import { z } from "zod";

// Serves one resource of a mebibyte in a process of its own, which its parent started with a small heap. With an argument,
// callers need a token: one that starts with "good" is accepted at once, any other is refused after that many milliseconds.
const [slowMs] = process.argv.slice(2).map(Number);
const resource = "https://load.example/mcp";

const auth = bearer({
  resource,
  verify: async (token) => {
    if (token.startsWith("good")) return { id: token, scopes: ["load:read"], resource };
    await delay(slowMs);
    return undefined;
  },
});

const surface = defineSurface("load", {
  page: mcpResource(cell({ schema: z.string() })),
  small: mcpResource(cell({ schema: z.string() })),
});
const app = mcp(surface, { maxResourceBytes: 4 * 1024 * 1024 }).implement({
  page: cellSource("x".repeat(1024 * 1024)),
  small: cellSource("small"),
});
// Hostile clients of a test have one address, and are to reach the limit for all.
const limits = { connections: { perCaller: 4096 } };
const serving = await app.serve(http({ exit: false, limits, ...(slowMs === undefined ? {} : { auth }) }));
process.stdout.write(`${serving.port}\n`);
process.on("message", () => process.send?.(serving.stats()));
