import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

// `npm run matrix:runtimes`: the built package serves the quickstart on Node, Bun and Deno, over stdio and HTTP, to a client on
// Node, and writes the same lockfile of the tracker on each version of Node. Needs `dist` and the npm registry. A runtime that npm cannot install is left out, and no failure.

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "surface-runtimes-"));
const app = join(folder, "app");
const quickstart = "examples/quickstart";
const tracker = "examples/tracker";
const httpServer = "test/runtimes/fixtures/serve-http.ts";
/** Milliseconds for a process to start, a request to be answered, and a process to end. */
const stepMs = 15_000;

/** A runtime: its command, with the arguments that precede the script. */
interface Runtime {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** Creates an application: the quickstart, a copy of the built package, and links to everything else. */
function createApp(): void {
  const modules = join(app, "node_modules");
  const own = join(modules, "surface-mcp");
  mkdirSync(own, { recursive: true });
  for (const part of ["dist", "package.json"]) cpSync(join(root, part), join(own, part), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name.startsWith(".") || name === "surface-mcp") continue;
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
  for (const part of [quickstart, tracker, httpServer]) {
    mkdirSync(dirname(join(app, part)), { recursive: true });
    cpSync(join(root, part), join(app, part), { recursive: true });
  }
  writeFileSync(join(app, "package.json"), JSON.stringify({ name: "runtimes", private: true, type: "module" }));
}

/** Installs a runtime from its npm package. Returns `undefined` if npm cannot install it. */
function install(name: string, version: string, args: readonly string[]): Runtime | undefined {
  const prefix = join(folder, name);
  // The packages fetch or link their binary by a script, and `scripts/check.mjs` turns scripts off.
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts=false", "--prefix", prefix];
  try {
    execFileSync("npm", ["install", ...flags, `${name}@${version}`], { stdio: ["ignore", "ignore", "inherit"] });
  } catch {
    console.log(`${name} ${version}: left out, because npm cannot install it`);
    return undefined;
  }
  return { name: `${name} ${version}`, command: join(prefix, "node_modules", ".bin", name), args };
}

/** Connects a client, and uses the quickstart as an agent does. */
async function useQuickstart(transport: Transport): Promise<void> {
  const client = new Client({ name: "runtimes", version: "1.0.0" });
  const options = { timeout: stepMs };
  try {
    await client.connect(transport, options);
    const { tools } = await client.listTools({}, options);
    assert.deepEqual(
      tools.map((tool) => tool.name),
      ["bump"],
    );
    const bumped = await client.callTool({ name: "bump", arguments: { by: 2 } }, options);
    assert.deepEqual(bumped.structuredContent, { value: 2 });
    const { contents } = await client.readResource({ uri: "surface://counter/value" }, options);
    assert.deepEqual(
      contents.map((content) => "text" in content && content.text),
      ["2"],
    );
    await assert.rejects(client.callTool({ name: "reset", arguments: {} }, options), /there is no such tool/);
  } finally {
    await client.close();
  }
}

async function checkStdio({ command, args }: Runtime): Promise<void> {
  const server = [...args, `${quickstart}/server.ts`];
  await useQuickstart(new StdioClientTransport({ command, args: server, cwd: app }));
}

async function readUrl({ stdout }: ChildProcess): Promise<URL> {
  assert.ok(stdout);
  for await (const line of createInterface({ input: stdout, signal: AbortSignal.timeout(stepMs) }))
    return new URL(line);
  throw new Error("the server printed no URL");
}

/** Also checks that the process ends when the server has closed, although the client keeps an idle connection. */
async function checkHttp({ command, args }: Runtime): Promise<void> {
  const child = spawn(command, [...args, httpServer], { cwd: app, stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  try {
    await useQuickstart(new StreamableHTTPClientTransport(await readUrl(child)));
    child.stdin.end();
    const late = setTimeout(() => child.kill("SIGKILL"), stepMs);
    const [code, signal]: unknown[] = await exited;
    clearTimeout(late);
    assert.equal(signal, null, "the process did not end after the server was closed");
    assert.equal(code, 0, "exit code");
  } finally {
    child.kill("SIGKILL");
  }
}

/** Checks that a version of Node writes the lockfile that is committed, byte by byte. Old versions run TypeScript by tsx. */
function checkLock({ name, command }: Runtime): void {
  const out = `${name}.json`;
  const cli = join("node_modules", "surface-mcp", "dist", "cli", "main.js");
  execFileSync(command, [cli, "lock", `${tracker}/app.ts`, "--out", out], { cwd: app, stdio: "pipe", timeout: stepMs });
  assert.equal(readFileSync(join(app, out), "utf8"), readFileSync(join(root, tracker, "exposure.lock.json"), "utf8"));
}

async function passes(what: string, check: () => Promise<void> | void): Promise<boolean> {
  const started = performance.now();
  try {
    await check();
    console.log(`pass  ${what}, ${Math.round(performance.now() - started)} ms`);
    return true;
  } catch (error) {
    console.log(`FAIL  ${what}:`, error);
    return false;
  }
}

try {
  createApp();
  const node = { name: `node ${process.versions.node}`, command: process.execPath };
  const runtimes = [
    { ...node, args: ["--import", import.meta.resolve("tsx")] },
    install("bun", "1.4.5", []),
    install("deno", "2.9.6", ["run", "--allow-all"]),
  ].filter((runtime) => runtime !== undefined);
  const nodes = [{ ...node, args: [] }, install("node", "22", []), install("node", "24", [])];
  const verdicts: boolean[] = [];
  for (const runtime of nodes.filter((each) => each !== undefined)) {
    verdicts.push(await passes(`${runtime.name} writes the lockfile of the tracker`, () => checkLock(runtime)));
  }
  for (const runtime of runtimes) {
    verdicts.push(await passes(`${runtime.name} over stdio`, () => checkStdio(runtime)));
    verdicts.push(await passes(`${runtime.name} over HTTP`, () => checkHttp(runtime)));
  }
  const bad = verdicts.filter((isFine) => !isFine).length;
  console.log(`matrix:runtimes: ${verdicts.length - bad} pass, ${bad} fail`);
  process.exitCode = bad === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
