import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import type { Caller } from "../../../src/surface/caller.ts";
import { http } from "../../../src/http/http.ts";
import { oauthResource } from "../../../src/http/auth/oauth-resource.ts";
import {
  defineSurface,
  implementSurface,
  listenUnixSocket,
  mcp,
  mcpTool,
  procedure,
  unixSocket,
} from "../../../src/index.ts";
import { startIssuer } from "../support/issuer.ts";
import { withFaults } from "../support/with-faults.ts";

const resource = "https://ci.example/mcp";
const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const counter = defineSurface("surface", {
  add: mcpTool(procedure({ input: z.object({ by: z.number() }), output: z.number() })),
  fail: mcpTool(procedure({})),
});

/** Passes on what goes to a socket and comes from it, and keeps a copy. */
async function recordingProxy(path: string, to: string): Promise<Buffer[]> {
  const seen: Buffer[] = [];
  const pass = (from: Socket, other: Socket): void => {
    from.on("data", (bytes) => {
      seen.push(Buffer.from(bytes));
      other.write(bytes);
    });
    from.on("close", () => other.destroy());
    from.on("error", () => other.destroy());
  };
  const server = createServer((near) => {
    const far = connect(to);
    pass(near, far);
    pass(far, near);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  ending.push(async () => new Promise((resolve) => server.close(resolve)));
  return seen;
}

/** Everything that an author's code, its log and the link have seen. */
async function openRecorded() {
  const folder = await mkdtemp(join(tmpdir(), "token-"));
  ending.push(async () => rm(folder, { recursive: true, force: true }));
  const seen: unknown[] = [];
  const onFault = (fault: unknown): void => void seen.push(fault);
  const fail = (...given: unknown[]): never => {
    seen.push(given);
    throw new Error("it failed");
  };
  // A getter of a class is not printed unless it is asked.
  const add = (given: unknown, context: { readonly caller: Caller }): number =>
    seen.push(given, context, context.caller);
  const live = implementSurface(counter, { add, fail }, { onFault });
  const listening = await listenUnixSocket(live, join(folder, "far.sock"));
  ending.push(
    async () => listening.close(),
    async () => live.close(),
  );
  const bytes = await recordingProxy(join(folder, "near.sock"), join(folder, "far.sock"));
  const whoami = (given: unknown, context: { readonly caller: Caller }): string => {
    // A getter of a class is not printed unless it is asked.
    seen.push(given, context, context.caller);
    return context.caller.id;
  };
  const app = mcp(counter, { onFault })
    .bridge(unixSocket(join(folder, "near.sock")))
    .tools({ whoami: { mutates: false, handler: whoami }, broken: { handler: fail } });
  return { app, seen, bytes };
}

it("keeps the token from handlers, links, logs and answers when calls succeed, fail and are refused", async () => {
  const { app, seen, bytes } = await openRecorded();
  const issuer = await startIssuer({ resource, scopes: ["surface:read", "surface:write"] });
  ending.push(async () => issuer.close());
  const own = { issuer: issuer.issuer, jwks: issuer.jwks, resource, timeoutMs: 500 };
  const serving = await app.serve(http({ auth: withFaults(oauthResource(own), issuer), exit: false }));
  ending.push(async () => serving.close());
  const answers: string[] = [];
  const call = async (token: string, name: string, args: object): Promise<number> => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const response = await fetch(serving.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name, arguments: args, _meta: meta },
      }),
    });
    answers.push(await response.text(), inspect([...response.headers]));
    return response.status;
  };
  const { GOOD, READ_ONLY, EXPIRED, VERIFIER_500, VERIFIER_HANG } = issuer.tokens;
  expect(await call(GOOD, "add", { by: 1 })).toBe(200);
  expect(await call(GOOD, "fail", {})).toBe(200);
  expect(await call(GOOD, "whoami", {})).toBe(200);
  expect(await call(GOOD, "broken", {})).toBe(200);
  expect(await call(READ_ONLY, "add", { by: 1 })).toBe(403);
  expect(await call(EXPIRED, "whoami", {})).toBe(401);
  expect(await call(VERIFIER_500, "whoami", {})).toBe(503);
  expect(await call(VERIFIER_HANG, "whoami", {})).toBe(503);
  const wire = Buffer.concat(bytes).toString("latin1");
  const everything = [inspect(seen, { depth: 20, showHidden: true, maxStringLength: null }), wire, ...answers].join(
    "\n",
  );
  // Each of them was looked into.
  const traces = ['"by":1', '"id":"alice"', "it failed", "the user store is gone", "id: 'alice'", "insufficient_scope"];
  expect(traces.filter((trace) => !everything.includes(trace))).toEqual([]);
  for (const token of [GOOD, READ_ONLY, EXPIRED, VERIFIER_500, VERIFIER_HANG]) {
    // The head of a token is the same in all and says nothing.
    for (const part of [token, ...token.split(".").slice(1)]) expect(everything.includes(part)).toBe(false);
  }
});
