import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";

// What a new user does, with the packed package and the npm registry. Needs `dist`.

/** A folder named like a dependency, which npm must not take for it. */
const folders = { stdio: "desk", express: "express" } as const;
const hangs = { timeout: 300_000 };
let temporary = "";
let archive = "";
/** The packed package, unpacked where it finds the dependencies of this repository. */
const unpacked = join(root, ".scratch", `init-${process.pid}`, "node_modules", "surface-mcp");

interface Ran {
  readonly code: number;
  readonly output: string;
}

function run(cwd: string, command: string, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, [...args], { cwd, encoding: "utf8", timeout: 280_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, output: stdout + stderr });
    });
  });
}

const npm = (cwd: string, ...args: readonly string[]): Promise<Ran> => run(cwd, "npm", ...args);

async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: "init-test", version: "1.0.0" });
  await client.connect(transport);
  atEndOfTest(() => client.close());
  return client;
}

/** Uses what the template exposes, and what it does not. */
async function expectTasks(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).toSorted()).toEqual(["add", "finish", "list"]);
  const added = await client.callTool({ name: "add", arguments: { title: "Try it" } });
  expect(added.structuredContent).toEqual({ id: 1, title: "Try it", isDone: false });
  const read = await client.readResource({ uri: "surface://tasks/all" });
  expect(read.contents).toMatchObject([{ text: expect.stringContaining("Try it") }]);
  await expect(client.callTool({ name: "clear", arguments: {} })).rejects.toThrow("there is no such tool");
}

/** Starts the Express template, and returns its address and token as a user reads them. */
async function startExpress(cwd: string): Promise<{ readonly url: string; readonly token: string }> {
  const env = { ...process.env, PORT: "0", MCP_TOKEN: undefined };
  // A group of its own, since npm does not end the processes of a script in every version.
  const child = spawn("npm", ["start"], { cwd, env, detached: true, stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  atEndOfTest(async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
    await gone;
  });
  let said = "";
  for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    said += chunk;
    const found = /^MCP: +(\S+)\nToken: ([\w-]+)\n/m.exec(said);
    if (found !== null) return { url: found[1] ?? "", token: found[2] ?? "" };
  }
  throw new Error(`npm start ended: ${said}`);
}

describe("a project of init", () => {
  beforeAll(async () => {
    temporary = mkdtempSync(join(tmpdir(), "surface-mcp-init-"));
    // Without --ignore-scripts npm would build once more, under the feet of the tests that read dist.
    await npm(root, "pack", "--ignore-scripts", "--pack-destination", temporary);
    archive = `./${readdirSync(temporary).at(0)}`;
    mkdirSync(unpacked, { recursive: true });
    await run(temporary, "tar", "-xzf", archive, "--strip-components=1", "-C", unpacked);
  }, 120_000);

  afterAll(() => {
    rmSync(temporary, { recursive: true, force: true });
    rmSync(join(unpacked, "..", ".."), { recursive: true, force: true });
  });

  it.each(["stdio", "express"] as const)("is installed, checked and tested: %s", hangs, async (template) => {
    const folder = folders[template];
    const main = join(unpacked, "dist/cli/main.js");
    const args = ["init", folder, "--template", template, "--package", archive];
    const wrote = await run(temporary, process.execPath, main, ...args);
    expect(wrote).toMatchObject({ code: 0, output: expect.stringContaining("wrote 8 files") });

    const project = join(temporary, folder);
    expect(await npm(project, "install", "--prefer-offline", "--no-audit", "--no-fund")).toMatchObject({ code: 0 });
    expect(await npm(project, "run", "check")).toMatchObject({ code: 0 });
    const tested = await npm(project, "test");
    expect(tested).toMatchObject({ code: 0, output: expect.stringContaining("3 passed") });
  });

  it("serves over stdio by the command in its README", hangs, async () => {
    const project = join(temporary, folders.stdio);
    expect(readFileSync(join(project, "README.md"), "utf8")).toContain(`-- npm --silent --prefix "$PWD" start`);
    const args = ["--silent", "--prefix", project, "start"];
    await expectTasks(await connect(new StdioClientTransport({ command: "npm", args, cwd: tmpdir() })));
  });

  it("serves over HTTP to the token that it prints, beside the REST routes", hangs, async () => {
    const { url, token } = await startExpress(join(temporary, folders.express));
    const headers = { authorization: `Bearer ${token}` };
    await expectTasks(await connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })));

    const tasks = new URL("/tasks", url);
    const post = async (to: URL | string, body: object): Promise<number> => {
      const type = { "content-type": "application/json" };
      return (await fetch(to, { method: "POST", headers: type, body: JSON.stringify(body) })).status;
    };
    expect(await post(url, { jsonrpc: "2.0", id: 1, method: "tools/list" })).toBe(401);
    expect(await post(tasks, { title: "By REST" })).toBe(201);
    expect(await post(tasks, { title: 7 })).toBe(400);
    expect(await (await fetch(tasks)).json()).toMatchObject([{ title: "Try it" }, { title: "By REST" }]);
  });

  it("fails its check when a member gets a tag that is not in the list", hangs, async () => {
    const project = join(temporary, folders.stdio);
    const surface = join(project, "src/surface.ts");
    const text = readFileSync(surface, "utf8");
    writeFileSync(surface, text.replace(/clear: (procedure\(.*?\}\))/, "clear: mcpTool($1)"));
    const checked = await npm(project, "run", "check");
    expect(checked.code).toBe(1);
    expect(checked.output).toContain(`\\"clear\\" is in the app, and not in the list`);
  });
});
