import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { http } from "../../../src/http/index.ts";
import { defineSurface, mcp, mcpTool, procedure, readOnly, type ViewRule } from "../../../src/index.ts";
import { modernPost } from "../support/modern-post.ts";

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const input = z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) });

const surface = defineSurface("ci", {
  deploy: mcpTool(procedure({ input, output: z.string() })),
  scoped: mcpTool(procedure({ input, output: z.string() }), { scopes: ["ci:admin"] }),
  owned: mcpTool(procedure({ input, output: z.string() }), { resource: { type: "vault", action: "write" } }),
  open: readOnly(mcpTool(procedure({ output: z.string() }))),
});

async function serve(rules: readonly ViewRule[]): Promise<string> {
  const app = mcp(surface, { onFault: () => {} })
    .implement({ deploy: () => "d", scoped: () => "s", owned: () => "o", open: () => "o" })
    .views(rules);
  const serving = await http({ port: 0, exit: false, drainMs: 0 }).serve(app);
  ending.push(() => serving.close());
  return serving.url;
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

async function call(url: string, name: string): Promise<Answered> {
  const answer = await fetch(url, modernPost("tools/call", { name, arguments: { region: "eu" } }));
  return { status: answer.status, text: (await answer.text()).replaceAll(name, "…") };
}

const post = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
  body: JSON.stringify({ jsonrpc: "2.0", ...body }),
});

/** The status of a call within a session of some client, whose header says something else than its argument. */
async function statusInSession(url: string, client: string): Promise<number> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: client, version: "1" } };
  const first = await fetch(url, post({ id: 1, method: "initialize", params }));
  await first.text();
  const headers = { "mcp-session-id": first.headers.get("mcp-session-id") ?? "", "mcp-param-region": "us" };
  const called = { name: "deploy", arguments: { region: "eu" } };
  const answer = await fetch(url, post({ id: 2, method: "tools/call", params: called }, headers));
  await answer.text();
  return answer.status;
}

describe("a tool whose arguments headers mirror", () => {
  it.each(["scoped", "owned"])("looks unknown to a caller who can never use it: %s", async (name) => {
    const url = await serve([{ verdict: { kind: "tool_surface" } }]);
    expect(await call(url, name)).toEqual(await call(url, "nosuch"));
    expect((await call(url, "deploy")).status).toBe(400);
  });

  it("is compared with its headers in a session as the session's own view shows it", async () => {
    const hides = { kind: "tool_surface", disallow: ["deploy"] } as const;
    const url = await serve([
      { when: { client: { name: "trusted" } }, verdict: { kind: "tool_surface" } },
      { verdict: hides },
    ]);
    expect(await statusInSession(url, "trusted")).toBe(400);
    expect(await statusInSession(url, "other")).toBe(200);
  });
});
