/**
 * The server under test over HTTP, both eras at once: `npx tsx bench/http-server.ts [--most N] [--views N] [--auth] [--inspector]`.
 * Its port is told to the driver that started it, or said on standard error. It ends with its input.
 */
import { bearer, http, type HttpOptions } from "../src/http/index.ts";
import { mcp, type ViewRule } from "../src/index.ts";
import { bench, change, handlers } from "./tools/bench-surface.ts";
import { obeyDriver } from "./tools/obey-driver.ts";
import { readHttpOptions } from "./tools/read-http-options.ts";

const { most, auth, views, inspector } = readHttpOptions();
const resource = "http://127.0.0.1/mcp";

/** Every caller is who they say: there is nobody else. */
const verified = bearer({
  resource,
  verify: async (token) => ({ id: token, scopes: ["bench:read", "bench:write"], resource }),
});

const caps: HttpOptions =
  most === undefined
    ? {}
    : { maxSessions: most, maxStreams: most, maxSessionsPerPrincipal: most, maxStreamsPerPrincipal: most };
const options: HttpOptions = {
  ...caps,
  exit: false,
  drainMs: 0,
  ...(inspector ? { inspector } : {}),
  ...(auth ? { auth: verified, rateLimit: false } : {}),
};
const rules = Array.from({ length: views }, (_, index): ViewRule => ({
  id: `view_${index}`,
  when: { surface: `view_${index}` },
  verdict: { kind: "tool_surface", disallow: ["bump"] },
}));
const app = mcp(bench).implement(handlers);
const serving = await (views === 0 ? app : app.views(rules)).serve(http(options));

process.stdin.resume().once("end", () => void serving.close());
if (process.send === undefined) process.stderr.write(`${serving.url}\n`);
else obeyDriver(change, { port: serving.port, page: serving.inspector?.link() });
