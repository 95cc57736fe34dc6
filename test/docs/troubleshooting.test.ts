import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deserializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import { transform } from "esbuild";
import { describe, expect, it, vi } from "vitest";
import { mcp } from "../../src/builder/mcp.ts";
import { surfaceErrorCodes } from "../../src/errors.ts";
import { bearer, httpHandler, type HttpHandler, type HttpHandlerOptions } from "../../src/http/index.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { modernPost } from "../http/support/modern-post.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { root } from "./markdown-snippets.ts";

const guide = readFileSync(join(root, "docs/guide/troubleshooting.md"), "utf8");
const prose = guide.replaceAll(/^```[\s\S]*?^```$/gm, "");

/** The messages that the guide quotes. Backticks hold code, not messages. */
const quoted: readonly string[] = [...prose.replaceAll(/`[^`\n]*`/g, "").matchAll(/"([^"]+(?:"\w+"[^"]+)?)"/g)].map(
  ([, text = ""]) => text.replaceAll(/\s+/g, " "),
);
/** The first cells of the table of statuses. */
const statuses: readonly string[] = [...guide.matchAll(/^\| (\d{3}[^|]*?) *\|/gm)].map(([, cell = ""]) => cell);

const resource = "https://door.example/mcp";
const tokens = new Map([
  ["reads", ["door:read"]],
  ["foreign", ["todo:read"]],
  ["all", ["door:read", "door:write"]],
]);
const auth = bearer({
  resource,
  verify: async (token) => {
    if (token === "fails") throw new Error("the store of tokens is down");
    const scopes = tokens.get(token);
    return scopes && { id: token, scopes, resource };
  },
});
const door = defineSurface("door", { open: mcpTool(procedure({})) });

interface Server {
  readonly handler: HttpHandler;
  readonly log: string[];
}

function serve(options: HttpHandlerOptions = {}): Server {
  const log: string[] = [];
  const onFault = ({ cause }: { readonly cause: unknown }): void => void log.push(String(cause));
  const app = mcp(door, { onFault }).implement({ open: () => {} });
  const handler = httpHandler(app, { auth, allowedHosts: ["door.example"], ...options });
  atEndOfTest(() => handler.close());
  return { handler, log };
}

interface Request {
  readonly token?: string;
  readonly url?: string;
  readonly init?: RequestInit;
}

const call = modernPost("tools/call", { name: "open", arguments: {} });
const unknownCall = modernPost("tools/call", { name: "none", arguments: {} });
const list = modernPost("tools/list");

/** Returns a request of a client up to 2025-11-25. */
function legacyPost(method: string, params?: object, session?: string): RequestInit {
  return {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  };
}

const client = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
const handshake = legacyPost("initialize", client);
const endedSession = legacyPost("ping", undefined, "gone");

/** Sends a request. Returns status, challenge and body of the response as one text. */
async function send({ handler }: Server, { token, url = resource, init = list }: Request = {}): Promise<string> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  const response = await handler(new Request(url, { ...init, headers }));
  return `${response.status} ${response.headers.get("www-authenticate") ?? ""} ${await response.text()}`;
}

/** Compiles a module without the types of Node. Returns the compiler's output. */
function compile(code: string): string {
  const folder = mkdtempSync(join(tmpdir(), "troubleshooting-"));
  atEndOfTest(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "a.ts"), code);
  const options = ["--noEmit", "--types", "", "--module", "nodenext", "--target", "es2022"];
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [compiler, ...options, join(folder, "a.ts")], { cwd: folder, encoding: "utf8" })
    .stdout;
}

async function listedForForeignScopes(): Promise<string> {
  const server = serve();
  await send(server, { token: "foreign" });
  return server.log.join("\n");
}

/** Each quoted message, with code that provokes it and returns it. `…` stands for any text. */
const messages: Readonly<Record<string, () => string | Promise<string>>> = {
  "Unexpected token … is not valid JSON": () => {
    try {
      return JSON.stringify(deserializeMessage("listening on port 4000"));
    } catch (cause) {
      return String(cause);
    }
  },
  'Top-level await is currently not supported with the "cjs" output format': async () =>
    transform("await 1;", { format: "cjs", logLevel: "silent" }).then(() => "", String),
  "Cannot find name 'node:stream'": () => compile('export const stream: typeof import("node:stream") = null!;'),
  "An import path can only end with a '.ts' extension": () => compile('export * as own from "./a.ts";'),
  "the MCP endpoint has another path": () => send(serve(), { url: "https://door.example/other" }),
  "Session not found": () => send(serve(), { token: "all", init: endedSession }),
  "nothing is listed for a caller with the scopes …": listedForForeignScopes,
  "Invalid params: there is no such tool": () => send(serve(), { token: "all", init: unknownCall }),
  "tool surface denied: unknown MCP surface": () => send(serve(), { token: "all", url: `${resource}?surface=other` }),
  // A message of the compiler: `test/types` provokes it.
  "is in the app, and not in the list": () => readFileSync(join(root, "src/builder/exposure-helpers.ts"), "utf8"),
};
async function openTwoSessions(): Promise<string> {
  const server = serve({ maxSessions: 1 });
  await send(server, { token: "all", init: handshake });
  return send(server, { token: "all", init: handshake });
}

/** Each row of the table of statuses. */
const responses: Readonly<Record<string, () => Promise<string>>> = {
  401: () => send(serve()),
  "401 with `invalid_token`": () => send(serve(), { token: "wrong" }),
  "403 about `allowedHosts`": () => send(serve(), { url: "https://other.example/mcp" }),
  "403 with `insufficient_scope`": () => send(serve(), { token: "reads", init: call }),
  '404 "the MCP endpoint has another path"': () => send(serve(), { url: "https://door.example/other" }),
  '404 "Session not found"': () => send(serve(), { token: "all", init: endedSession }),
  409: openTwoSessions,
  503: () => send(serve(), { token: "fails" }),
};

function toPattern(text: string): RegExp {
  const parts = text.split("…").map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(parts.join("[^]*"));
}

describe("docs/guide/troubleshooting.md", () => {
  it("quotes only messages that this test provokes", () => {
    expect(new Set(quoted)).toEqual(new Set(Object.keys(messages)));
  });

  it.each(Object.entries(messages))("quotes a real message: %s", async (text, provoke) => {
    vi.spyOn(console, "error").mockReturnValue();
    expect(await provoke()).toMatch(toPattern(text));
  });

  it("lists only statuses that this test provokes, and one of frameworks", () => {
    const ofFrameworks = "413, behind a framework";
    expect(new Set(statuses)).toEqual(new Set([...Object.keys(responses), ofFrameworks]));
  });

  it.each(Object.entries(responses))("lists a real response: %s", async (cell, provoke) => {
    vi.spyOn(console, "error").mockReturnValue();
    const response = await provoke();
    expect(response.slice(0, 3)).toBe(cell.slice(0, 3));
    for (const [, text = ""] of cell.matchAll(/[`"]([^`"]+)[`"]/g)) expect(response).toContain(text);
  });

  it("names the correlation id that the log has for a failed verification", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    expect(await send(serve(), { token: "fails" })).toContain("correlationId");
  });

  it("names only codes that exist", () => {
    const inErrors = readFileSync(join(root, "docs/guide/errors.md"), "utf8").match(/[A-Z]+(?:_[A-Z]+)*/g) ?? [];
    const known = new Set<string>([...surfaceErrorCodes, ...inErrors]);
    const named = [...prose.matchAll(/`([A-Z]+(?:_[A-Z]+)+|INTERNAL|UNAVAILABLE)`/g)].map(([, code = ""]) => code);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((code) => !known.has(code))).toEqual([]);
  });
});
