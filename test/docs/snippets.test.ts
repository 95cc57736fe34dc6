import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  examplesOf,
  markdownFiles,
  publicValues,
  root,
  snippetsOf,
  sourceFiles,
  type Snippet,
} from "./markdown-snippets.ts";

// One level below the root, like test-d/: relative imports in the docs are written for such a folder.
const folder = join(root, ".scratch-snippets");

const options = {
  extends: "../tsconfig.json",
  // The libraries are checked with the sources: `npm run check:code`.
  compilerOptions: { noUnusedLocals: false, noUnusedParameters: false, skipLibCheck: true },
  // What the types of the SDK 1.x take as given.
  include: ["*.ts", "../test/sdk-v1-globals.d.ts"],
};

/** What the examples of the TSDoc take as given: every public name, a counter, a live surface and an app over it. */
const preamble = `
import * as all from "surface-mcp";
import type { Exactly, MutatingToolNames, ResourceNames, SurfaceClient, ToolNames } from "surface-mcp";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { agent, mcpAgent } from "surface-mcp/from/agent";
import { agenticService, mcpAgentic } from "surface-mcp/from/agentic";
import { invoker, mcpInvoker } from "surface-mcp/from/invoker";
import { fromOrpc, mcpOrpc } from "surface-mcp/from/orpc";
import { createRouterClient, os } from "@orpc/server";
import { fromTrpc, loadTrpc, mcpTrpc } from "surface-mcp/from/trpc";
import { initTRPC } from "@trpc/server";
import { fromOpenApi, mcpOpenApi, operations, type OpenApiDocument } from "surface-mcp/from/openapi";
import { http, httpHandler, inspectorHandler } from "surface-mcp/http";
import { attach } from "surface-mcp/sdk-v1";
import { createTestClient } from "surface-mcp/testing";
import { expectError, expectType } from "tsd";
import { z } from "zod";
const { ${publicValues().join(", ")} } = all;
const counter = defineSurface("counter", {
  value: mcpResource(cell({ schema: z.number(), default: 0 })),
  bump: mcpTool(procedure({ input: z.object({ by: z.number().default(1) }), output: z.number() })),
  reset: procedure({}),
});
const count = Object.assign(cellSource(0), { value: 0 }); // a source, and a signal
const handlers = { value: count, bump: () => 1, reset: () => undefined };
const live = implementSurface(counter, handlers);
const app = mcp(counter).implement(handlers);
const rest = { bump: handlers.bump, reset: handlers.reset };
const path = "run/app.sock";
const png = new Uint8Array();
const pipeline = defineSurface("pipeline", {
  nodes: mcpResource(cell({ schema: z.array(z.object({ status: z.string() })) })),
  "node.rerun": mcpTool(procedure({ input: z.object({ node: z.string() }) })),
});
const notes = defineSurface("notes", { list: mcpResource(collection({ key: z.string(), schema: z.string() })) });
const livePipeline = implementSurface(pipeline, { nodes: cellSource([]), "node.rerun": () => undefined });
const liveNotes = implementSurface(notes, { list: cellSource(new Map()) });
const agentCounter = projectSurface(counter, notes, () => ({ list: cellSource(new Map()) }));
const agentSurface = agentCounter;
const site = defineSurface("site", {
  nodes: cell({ schema: z.array(z.object({ status: z.string() })) }),
  jobs: collection({ key: z.string(), schema: z.object({ status: z.string() }) }),
  current: cell({ schema: z.object({ run: z.number() }) }),
  run: cell({ schema: z.object({ over: z.boolean(), verdict: z.string() }) }),
  log: stream({ input: z.object({ node: z.string() }), output: z.object({ text: z.string() }) }),
  settled: event({ output: z.object({ ok: z.boolean() }) }),
  "node.rerun": procedure({ input: z.object({ node: z.string() }) }),
});
declare const client: SurfaceClient<typeof site.members>;
declare const auth: ReturnType<typeof import("surface-mcp/http").bearer>;
declare const hono: { all(path: string, answer: (c: { req: { raw: Request } }) => Promise<Response>): void };
const surface = counter;
declare const game: import("surface-mcp/from/agentic").AgenticService;
declare const tools: import("surface-mcp/from/invoker").ToolInvoker;
declare namespace api { interface paths {} interface operations {} }
declare const document: OpenApiDocument;
declare const token: string;
declare const text: string;
declare const localTools: typeof tools;
declare const remoteTools: typeof tools;
declare const writer: all.MountSource;
function createRouter() {
  const t = initTRPC.context<{ readonly user: string }>().create();
  return t.router({
    orders: t.procedure.query(() => []),
    order: { show: t.procedure.query(() => 1), cancel: t.procedure.mutation(() => 1) },
    reports: { daily: t.procedure.query(() => 1) },
  });
}
function createOrpcRouter() {
  const base = os.$context<{ readonly user: string }>();
  return { orders: base.handler(() => []), order: { show: base.handler(() => 1), cancel: base.handler(() => 1) } };
}
declare const router: ReturnType<typeof createRouter>;
declare const orpcRouter: ReturnType<typeof createOrpcRouter>;
declare const context: () => { readonly user: string };
declare function readLines(node: string): AsyncIterable<string>;
`;

const markdown: readonly Snippet[] = markdownFiles().flatMap(snippetsOf);
const examples: readonly Snippet[] = sourceFiles().flatMap(examplesOf);

function write(snippet: Snippet, code: string): void {
  writeFileSync(join(folder, `${snippet.name}.ts`), code);
}

const declared = /^declare const (\w+)/gm;

/** The preamble, without what an example declares itself. */
function givenTo(ambient: string): string {
  const own = new Set([...ambient.matchAll(declared)].map(([line]) => line));
  const isOwn = (line: string): boolean => own.has(line.match(declared)?.[0] ?? "");
  return preamble
    .split("\n")
    .filter((line) => !isOwn(line))
    .join("\n");
}

/** An example stands in a function of its own, so that it may shadow what the preamble gives it; what it declares cannot. */
function inFunction({ code }: Snippet): string {
  const imports = code.match(/^import .*$/gm)?.join("\n") ?? "";
  const ambient = code.match(/^declare .*$/gm)?.join("\n") ?? "";
  const body = code.replaceAll(/^(?:import|declare) .*$/gm, "").replaceAll(/^export /gm, "");
  return `${imports}\n${givenTo(ambient)}\n${ambient}\nexport async function example() {\n${body}\n}\n`;
}

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options));
  for (const snippet of markdown) write(snippet, `${snippet.code}\nexport {};\n`);
  for (const example of examples) write(example, inFunction(example));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("documentation", () => {
  test("has snippets and examples to compile", () => {
    expect(markdown.length).toBeGreaterThanOrEqual(4);
    expect(examples.length).toBeGreaterThanOrEqual(10);
  });

  test("compiles, every snippet and every example of it", { timeout: 60_000 }, () => {
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    const run = spawnSync(process.execPath, [compiler, "-p", folder, "--checkers", "1"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(run.stdout).toBe("");
    expect(run.status).toBe(0);
  });

  test("shows excerpts of files as they are there", () => {
    const excerpts = markdownFiles().flatMap((file) =>
      [...readFileSync(join(root, file), "utf8").matchAll(/^```ts excerpt\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)].flatMap(
        ([, path = "", code = ""]) => code.split(/^ *\/\/ …\n/m).map((part) => ({ path, part })),
      ),
    );
    expect(excerpts.length).toBeGreaterThan(5);
    // The formatter indents a block on its own.
    const toLine = (code: string): string => code.replaceAll(/\s+/g, " ");
    for (const { path, part } of excerpts) {
      expect(toLine(readFileSync(join(root, path), "utf8"))).toContain(toLine(part).trim());
    }
  });

  test("shows the quickstart as it is", () => {
    const quickstart = readFileSync(join(root, "examples", "quickstart", "app.ts"), "utf8");
    expect(snippetsOf("README.md").map(({ code }) => code)).toContain(quickstart);
  });
});
