import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";
import { bench } from "./support.ts";

const manifest: { readonly bin: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
const program = join(root, manifest.bin["surface-mcp"] ?? "");
const module = fileURLToPath(new URL("fixtures/operable.mjs", import.meta.url));
const endless = fileURLToPath(new URL("fixtures/endless-list.mjs", import.meta.url));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the built command as a process. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...env }, timeout: 20_000 });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const [code]: unknown[] = await once(child, "close");
  return { code: Number(code), out, err };
}

interface Server {
  readonly name: string;
  /** Returns the words of the command line that name the server: before the operation, and after it. */
  readonly words: () => { readonly before: readonly string[]; readonly after: readonly string[] };
}

let url = "";
const servers: readonly Server[] = [
  { name: "an app in this process", words: () => ({ before: [module], after: [] }) },
  { name: "a command", words: () => ({ before: [], after: ["--", process.execPath, module, "stdio"] }) },
  { name: "a URL", words: () => ({ before: ["--url", url], after: [] }) },
];

describe.each(servers)("the built command, with $name,", ({ words }) => {
  let server: ReturnType<typeof spawn> | undefined;

  beforeAll(async () => {
    server = spawn(process.execPath, [module, "http"], { stdio: ["ignore", "pipe", "ignore"] });
    const [line]: unknown[] = server.stdout === null ? [] : await once(server.stdout, "data");
    url = String(line).trim();
  });

  afterAll(() => void server?.kill("SIGKILL"));

  function operate(command: string, ...args: readonly string[]): Promise<Ran> {
    const { before, after } = words();
    return run([command, ...before, ...args, ...after]);
  }

  it("calls a tool, and shows its progress on standard error", async () => {
    const ran = await operate("call", "double", '{"of":4}');
    expect(JSON.parse(ran.out)).toMatchObject({ structuredContent: { value: 8 } });
    expect(ran.err).toContain("progress 1/2: half");
    expect(ran.err).not.toContain("\u001B");
    expect(ran.code).toBe(0);
  });

  it("exits with 1 for a tool that fails, and prints its result", async () => {
    const ran = await operate("call", "fail");
    expect(JSON.parse(ran.out)).toMatchObject({ isError: true });
    expect(ran.out).not.toContain("secret");
    expect(ran.code).toBe(1);
  });

  it("exits with 1 for an unknown tool or resource, and prints the error of the server", async () => {
    const called = await operate("call", "nope");
    expect(called).toMatchObject({ code: 1, out: "" });
    expect(called.err).toBe('surface-mcp: it has no tool "nope"; its tools are "double", "erase", "fail"\n');
    expect(await operate("read", "surface://operable/nope")).toMatchObject({ code: 1, out: "" });
  });

  it("names the command for a resource that is called", async () => {
    const { before, after } = words();
    const called = await operate("call", "level");
    const command = ["surface-mcp read", ...before, "surface://operable/level", ...after].join(" ");
    expect(called).toMatchObject({ code: 1, out: "", err: `surface-mcp: "level" is a resource: ${command}\n` });
  });

  it("confirms a call only with --yes", async () => {
    const refused = await operate("call", "erase");
    expect(JSON.parse(refused.out)).toMatchObject({ isError: true });
    expect(refused).toMatchObject({ code: 1, out: expect.stringContaining("CLIENT_CANNOT") });
    expect(refused.err).toContain("--yes");
    const agreed = await operate("call", "erase", "--yes");
    expect(JSON.parse(agreed.out)).toMatchObject({ structuredContent: { value: "erased" } });
    expect(agreed.code).toBe(0);
    expect(agreed.err).not.toContain("--yes");
  });

  it("reads a resource", async () => {
    const ran = await operate("read", "surface://operable/level");
    expect(JSON.parse(ran.out)).toMatchObject({ contents: [{ uri: "surface://operable/level" }] });
    expect(ran.code).toBe(0);
  });

  it("lists everything that a client sees", async () => {
    const ran = await operate("inspect");
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/^double .*changes, destructive/m) });
    expect(ran.out).toContain("prompts (0)\n");
    expect(ran.out).toMatch(/^pages \(1\)\n.*\nui:\/\/operable\/double +double\b/m);
    expect(ran.out).toMatch(/^skills \(1\)\n.*\ndeploy +1 .*Deploy a release\.$/m);
    const { tools, resources } = JSON.parse((await operate("inspect", "--json")).out);
    expect(Object.keys(tools)).toEqual(["double", "erase", "fail"]);
    expect(Object.keys(resources)).toEqual(["surface://operable/level"]);
  });

  it("watches a resource, a line for each change", async () => {
    const ran = await operate("watch", "surface://operable/level", "--count", "3");
    const lines = ran.out.trim().split("\n");
    const texts = lines.map((line) => JSON.parse(line).contents[0].text);
    expect(new Set(texts).size).toBe(3);
    expect(ran.code).toBe(0);
  });
});

describe("the built command", () => {
  it.each<[what: string, args: readonly string[], problem: string]>([
    ["no operation", ["call", module], "and then a tool"],
    ["arguments that are not JSON", ["call", module, "double", "{"], "must be a JSON object"],
    ["arguments that are a list", ["call", module, "double", "[]"], "must be a JSON object"],
    ["a module and a URL", ["call", "app.ts", "--url", "http://x", "bump"], 'name a module or "--url", not both'],
    ["a module and a command", ["read", "app.ts", "a:b", "--", "x"], "name a module or a command, not both"],
    ["two URIs", ["read", module, "a:b", "c:d"], "name one URI"],
    ["a count of zero", ["watch", module, "a:b", "--count", "0"], "from 1 on"],
    ["a URL that is none", ["read", "--url", "nowhere", "a:b"], `begins with "http://"`],
    ["inspect without a server", ["inspect"], "name one module"],
    ["inspect with two servers", ["inspect", module, "--url", "http://127.0.0.1:1/mcp"], "is not expected"],
    ["inspect of a server that is not there", ["inspect", "--url", "http://127.0.0.1:1/mcp"], "Cannot use http://"],
    ["a list without an end", ["inspect", "--", process.execPath, endless], "has more than 1000 pages"],
    ["a URL and a command", ["read", "--url", "http://x", "a:b", "--", "x"], "excludes a command"],
    ["no command after --", ["read", "a:b", "--"], "name the command"],
    ["a view of a remote server", ["read", "--url", "http://x", "a:b", "--surface", "v"], "for apps in this process"],
    ["an unset variable", ["read", "--url", "http://x", "a:b", "--token-env", "NO_SUCH"], "is not set"],
    ["an unknown view", ["read", module, "a:b", "--surface", "v"], `"v"`],
    ["a module that does not exist", ["read", "nowhere.mjs", "a:b"], "does not exist"],
    ["a command that does not exist", ["read", "a:b", "--", "surface-mcp-nowhere"], "ENOENT"],
    ["a command that ends", ["read", "a:b", "--", process.execPath, module, "exit"], "it ended with code 3"],
    [
      "a server that is not there",
      ["read", "--url", "http://127.0.0.1:1/mcp", "a:b"],
      "Cannot use http://127.0.0.1:1/mcp",
    ],
  ])("ends with 2 and a sentence for %s", async (_what, args, problem) => {
    // Without a process: that the command exits with the code is for the other tests.
    const here = await bench({ cwd: root });
    const ran = await here.run(...args);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain(problem);
  });

  it("says only that a scope is missing, and not that the tool is", async () => {
    const server = spawn(process.execPath, [module, "signed"], { stdio: ["ignore", "pipe", "ignore"] });
    const [line]: unknown[] = await once(server.stdout, "data");
    const args = ["call", "double", '{"of":1}', "--url", String(line).trim(), "--token-env", "TOKEN"];
    const ran = await run(args, { TOKEN: "reader" });
    server.kill("SIGKILL");
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toMatch(/^surface-mcp: .*Insufficient scope.*\n$/);
  });

  it("uses the view that --surface names", async () => {
    const ran = await run(["call", module, "double", '{"of":1}', "--surface", "none"]);
    expect(ran).toMatchObject({ code: 1, out: "" });
  });

  it("sends the token of a variable to a URL, and to no plain HTTP host elsewhere", async () => {
    const sent: unknown[] = [];
    const server = createServer(({ headers }, response) => {
      sent.push(headers.authorization);
      response.writeHead(401).end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    // A TCP server has such an address.
    const { port } = server.address() as AddressInfo;
    const env = { TOKEN: "t0ken" };
    const ran = await run(["read", "a:b", "--url", `http://127.0.0.1:${port}/`, "--token-env", "TOKEN"], env);
    const without = await run(["call", "double", "--url", `http://127.0.0.1:${port}/`]);
    server.close();
    expect(without).toMatchObject({ code: 2, err: expect.stringContaining('"--token-env"') });
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("HTTP 401") });
    expect(sent).toEqual(["Bearer t0ken", undefined]);
    const plain = await run(["read", "a:b", "--url", "http://ci.example/", "--token-env", "TOKEN"], env);
    expect(plain).toMatchObject({ code: 2, err: expect.stringContaining("unencrypted") });
  });
});
