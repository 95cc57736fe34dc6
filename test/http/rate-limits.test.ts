import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { bearer, httpHandler, type HttpHandler } from "../../src/http/index.ts";
import { cell, cellSource, defineSurface, mcp, mcpResource } from "../../src/index.ts";
import { able } from "./asking/ask-harness.ts";
import { modernPost } from "./support/modern-post.ts";

const resource = "https://ci.example/mcp";
const surface = defineSurface("ci", { count: mcpResource(cell({ schema: z.number() })) });
const verify = async () => ({ id: "ada", scopes: ["ci:read", "ci:write"], resource });

const opened: HttpHandler[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const handler of opened.splice(0)) await handler.close();
});

/** What a call was answered, as far as a test looks at it. */
interface Answered {
  readonly error?: { readonly code: number };
  readonly result?: {
    readonly isError?: boolean;
    readonly requestState?: string;
    readonly inputRequests?: object;
    readonly content?: readonly { readonly text: string }[];
    readonly structuredContent?: object;
  };
}

interface Served {
  readonly runs: () => number;
  readonly call: (name: string, args?: object, more?: object) => Promise<Answered>;
}

function serve(): Served {
  let runs = 0;
  const run = (): { readonly runs: number } => ({ runs: (runs += 1) });
  const app = mcp(surface)
    .implement({ count: cellSource(1) })
    .tools({
      change: { handler: run },
      erase: { confirm: true, handler: run },
      read: { mutates: false, input: z.object({ id: z.string() }), handler: run },
    });
  const handler = httpHandler(app, { auth: bearer({ resource, verify }), allowedHosts: ["ci.example"] });
  opened.push(handler);
  const call: Served["call"] = async (
    name,
    args = {},
    { capabilities = able, ...more }: { capabilities?: object } = {},
  ) => {
    const meta = { "io.modelcontextprotocol/clientCapabilities": capabilities };
    const { headers, ...init } = modernPost("tools/call", { name, arguments: args, _meta: meta, ...more });
    const sent = { ...init, headers: { ...Object.fromEntries(new Headers(headers)), authorization: "Bearer token" } };
    const response = await handler(new Request(resource, sent));
    // What is sent is a JSON-RPC message.
    return (await response.json()) as Answered;
  };
  return { runs: () => runs, call };
}

function isLimited({ result }: Answered): boolean {
  return result?.content?.[0]?.text.includes("RATE_LIMITED") === true;
}

describe("the default rate limit", () => {
  it("lets a caller change something 20 times in a row by any tools, and warns once of the first refusal with the option", async () => {
    const warn = vi.spyOn(console, "error").mockImplementation(() => {});
    const { call, runs } = serve();
    for (let index = 0; index < 20; index += 1) expect(isLimited(await call("change"))).toBe(false);
    expect(isLimited(await call("change"))).toBe(true);
    expect(isLimited(await call("change"))).toBe(true);
    expect(isLimited(await call("erase"))).toBe(true);
    expect(runs()).toBe(20);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('"rateLimit" of http()')]]);
  });

  it("counts a retry with the user's answer as the same call", async () => {
    const { call, runs } = serve();
    for (let index = 0; index < 20; index += 1) {
      const { result } = await call("erase");
      const [key = ""] = Object.keys(result?.inputRequests ?? {});
      const inputResponses = { [key]: { action: "accept", content: {} } };
      const retry = await call("erase", {}, { requestState: result?.requestState, inputResponses });
      expect(retry.result?.structuredContent).toEqual({ runs: index + 1 });
    }
    expect(runs()).toBe(20);
    vi.spyOn(console, "error").mockImplementation(() => {});
    expect(isLimited(await call("erase"))).toBe(true);
  });

  it("does not count what was refused before it ran, but bounds how often that may be asked for", async () => {
    const { call, runs } = serve();
    for (let index = 0; index < 100; index += 1) {
      expect((await call("read", { id: 1 })).result?.content?.[0]?.text).toContain("VALIDATION_ERROR");
      expect((await call("erase", {}, { capabilities: {} })).error?.code).toBe(-32_021);
      expect((await call("unknown")).error?.code).toBe(-32_602);
    }
    expect(isLimited(await call("read", { id: "a" }))).toBe(false);
    expect(isLimited(await call("erase"))).toBe(false);
    expect(runs()).toBe(1);
    let asked = 302;
    while (asked < 2000 && !isLimited(await call("unknown"))) asked += 1;
    expect(asked).toBeGreaterThanOrEqual(400);
    expect(asked).toBeLessThan(2000);
  });
});
