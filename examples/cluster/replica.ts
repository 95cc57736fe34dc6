/** One replica: serves the app, and tells its parent process the port. */
import { Redis } from "ioredis";
import { bearer, http } from "surface-mcp/http";
import { redis } from "surface-mcp/redis";
import { createApp } from "./app.ts";

const [path = ""] = process.argv.slice(2);
const client = new Redis({ path });
client.on("error", () => {}); // The cluster reports what matters.

const resource = "http://localhost/mcp";
const scopes = ["ledger:read", "ledger:write"];
// The demo's tokens are the names of their users.
const auth = bearer({ resource, verify: async (token) => ({ id: token, scopes, resource }) });
const serving = await createApp(client).serve(
  http({ auth, allowedHosts: ["127.0.0.1"], rateLimit: false, cluster: redis(client, { prefix: "ledger-mcp" }) }),
);
process.send?.(serving.port);
process.once("disconnect", () => process.exit()); // the parent has died
await serving.closed;
client.disconnect();
