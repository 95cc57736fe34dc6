import { execFile } from "node:child_process";
import { chmod, lstat, mkdir, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { bench, type Bench } from "../support.ts";

const url = "http://127.0.0.1:4000/mcp";

async function put(at: Bench, path: string, text: string): Promise<string> {
  const file = join(at.home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

const parsed = async (at: Bench, path: string): Promise<unknown> => JSON.parse((await at.read(path)) ?? "null");

describe("install", () => {
  it.each([
    ["claude-code", "user", ".claude.json", { mcpServers: { x: { type: "http", url: `${url}?surface=hub` } } }],
    ["claude-code", "project", "project/.mcp.json", { mcpServers: { x: { type: "http", url: `${url}?surface=hub` } } }],
    ["cursor", "user", ".cursor/mcp.json", { mcpServers: { x: { url: `${url}?surface=hub` } } }],
    ["cursor", "project", "project/.cursor/mcp.json", { mcpServers: { x: { url: `${url}?surface=hub` } } }],
    ["vscode", "user", ".config/Code/User/mcp.json", { servers: { x: { type: "http", url: `${url}?surface=hub` } } }],
    ["vscode", "project", "project/.vscode/mcp.json", { servers: { x: { type: "http", url: `${url}?surface=hub` } } }],
  ])("writes the entry of %s for a URL into its file for a %s", async (...[client, scope, path, expected]) => {
    const at = await bench();
    const ran = await at.run("install", client, "--surface", "hub", "--name", "x", "--scope", scope, "--url", url);
    expect(ran).toEqual({ code: 0, out: `added "x" to "${join(at.home, path)}"\n`, err: "" });
    expect(await parsed(at, path)).toEqual(expected);
  });

  it.each([
    ["user", ".codex/config.toml"],
    ["project", "project/.codex/config.toml"],
  ])("writes a table into the file of codex for a %s with a URL and the variable of a token", async (scope, path) => {
    const at = await bench();
    await at.run("install", "codex", "--name", "x", "--scope", scope, "--token-env", "CI_TOKEN", "--url", url);
    expect(await at.read(path)).toBe(`[mcp_servers.x]\nurl = "${url}"\nbearer_token_env_var = "CI_TOKEN"\n`);
  });

  it.each([
    ["claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers", {}],
    ["claude-code", ".claude.json", "mcpServers", { type: "stdio" }],
    ["cursor", ".cursor/mcp.json", "mcpServers", {}],
    ["vscode", ".config/Code/User/mcp.json", "servers", { type: "stdio" }],
  ])("adds the view to the arguments of a command for %s", async (...[client, path, container, more]) => {
    const at = await bench();
    const line = ["--", "node", "server.js", "--print", "a b"];
    await at.run("install", client, "--surface", "read only", "--project", "p", "--name", "x", ...line);
    const args = ["server.js", "--print", "a b", "--surface", "read only", "--project", "p"];
    expect(await parsed(at, path)).toEqual({ [container]: { x: { ...more, command: "node", args } } });
  });

  it.each([
    ["claude-code", "Bearer ${CI_TOKEN}"],
    ["cursor", "Bearer ${env:CI_TOKEN}"],
    ["vscode", "Bearer ${env:CI_TOKEN}"],
  ])("writes the variable of a token in the syntax of %s, and never the token", async (client, header) => {
    const at = await bench({ env: { CI_TOKEN: "very-secret" } });
    const ran = await at.run("install", client, "--token-env", "CI_TOKEN", "--print", "--url", url);
    expect(ran.out).toContain(JSON.stringify({ Authorization: header }).slice(1, -1).replace(":", ": "));
    expect(ran.out).not.toContain("very-secret");
  });

  it.each([
    ["darwin", {}, "Library/Application Support/Claude/claude_desktop_config.json"],
    ["win32", {}, "AppData/Roaming/Claude/claude_desktop_config.json"],
    ["linux", {}, ".config/Claude/claude_desktop_config.json"],
  ] as const)("finds the file of Claude Desktop on %s", async (platform, env, path) => {
    const at = await bench({ platform, env });
    await at.run("install", "claude-desktop", "--", "node", "a.js");
    expect(await at.read(path)).toContain(`"command": "node"`);
  });

  it("finds the files at paths from environment variables", async () => {
    const at = await bench();
    const env = { APPDATA: "d", CLAUDE_CONFIG_DIR: "c", CODEX_HOME: "x", XDG_CONFIG_HOME: "g" };
    const inThere = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, join(at.home, value)]));
    for (const platform of ["linux", "win32"] as const) {
      const there = await bench({ home: at.home, platform, env: inThere });
      for (const client of ["vscode", "claude-code", "codex"]) {
        await there.run("install", client, "--name", platform, "--url", url);
      }
    }
    expect(await at.read("g/Code/User/mcp.json")).toContain(`"linux"`);
    expect(await at.read("d/Code/User/mcp.json")).toContain(`"win32"`);
    expect(await at.read("c/.claude.json")).toContain(`"win32"`);
    expect(await at.read("x/config.toml")).toContain(`[mcp_servers.win32]`);
  });

  it("keeps the other parameters of a URL when it adds a view", async () => {
    const at = await bench();
    const view = ["--surface", "a&b ü", "--project", "p/q"];
    const ran = await at.run("install", "cursor", ...view, "--name", "x", "--print", "--url", `${url}?flag&q=a%20b`);
    const out: { mcpServers: { x: { url: string } } } = JSON.parse(ran.out);
    expect(out.mcpServers.x.url).toBe(`${url}?flag&q=a%20b&surface=a%26b%20%C3%BC&project=p%2Fq`);
    expect(new URL(out.mcpServers.x.url).searchParams.get("surface")).toBe("a&b ü");
  });

  it("writes files of a command with absolute paths into a user's file, which a client reads in another folder", async () => {
    const at = await bench();
    const file = await put(at, "project/src/server.ts", "");
    const program = await put(at, "project/run.sh", "");
    await mkdir(join(at.cwd, "tsx"));
    const args = ["-y", "tsx", "src/server.ts", "src/absent.ts", "${ARG}", "", "a".repeat(5000)];
    const entry = async (...more: readonly string[]): Promise<unknown> =>
      JSON.parse((await at.run("install", "claude-code", "--name", "x", "--print", ...more)).out).mcpServers.x;
    const absolute = { command: "npx", args: ["-y", "tsx", file, "src/absent.ts", "${ARG}", "", "a".repeat(5000)] };
    expect(await entry("--", "npx", ...args)).toMatchObject(absolute);
    expect(await entry("--", "./run.sh")).toMatchObject({ command: program });
    // By this name the system looks in PATH.
    expect(await entry("--", "run.sh")).toMatchObject({ command: "run.sh" });
    expect(await entry("--scope", "project", "--", "./run.sh", ...args)).toMatchObject({ command: "./run.sh", args });
  });

  it("names a server after its view without a name", async () => {
    const at = await bench();
    const named = async (...more: readonly string[]): Promise<string | undefined> =>
      /"(surface-mcp[^"]*)"/.exec((await at.run("install", "cursor", "--print", ...more, "--url", url)).out)?.[1];
    expect(await named()).toBe("surface-mcp");
    expect(await named("--surface", "read only")).toBe("surface-mcp-read-only");
  });

  it("prefixes the name of a server whose view has no valid server name", async () => {
    const at = await bench();
    const view = ["--surface", "__proto__", "--print", "--url", url];
    expect((await at.run("install", "cursor", ...view)).out).toContain(`"surface-mcp-__proto__"`);
  });

  it("changes nothing with --print", async () => {
    const at = await bench();
    const ran = await at.run("install", "vscode", "--name", "x", "--print", "--url", url);
    expect(ran.out).toBe(
      `{\n  "servers": {\n    "x": {\n      "type": "http",\n      "url": "${url}"\n    }\n  }\n}\n`,
    );
    expect(await readdir(at.home)).toEqual([]);
  });

  it("refuses a name that a file already has, names both and does not change the file", async () => {
    const at = await bench();
    const text = `{ "mcpServers": { "x": {} } }`;
    const file = await put(at, ".cursor/mcp.json", text);
    const ran = await at.run("install", "cursor", "--name", "x", "--url", url);
    const why = `it already has a server "x"; run with "--remove x" first, or pass another "--name"`;
    expect(ran).toEqual({ code: 1, out: "", err: `surface-mcp: Cannot change "${file}": ${why}\n` });
    expect(await at.read(".cursor/mcp.json")).toBe(text);
  });

  it("refuses a file that it cannot parse, and does not change it", async () => {
    const at = await bench();
    for (const text of [`{ "mcpServers": `, "\uFEFF{ oops", `["a"]`]) {
      await put(at, ".cursor/mcp.json", text);
      expect((await at.run("install", "cursor", "--url", url)).code).toBe(1);
      expect(await at.read(".cursor/mcp.json")).toBe(text);
    }
    const file = await put(at, ".cursor/mcp.json", "");
    await writeFile(file, Uint8Array.of(0xff, 0xfe, 0x7b, 0));
    expect((await at.run("install", "cursor", "--url", url)).err).toContain("it is not UTF-8");
  });

  it("keeps a file's byte order mark, permissions and link, and leaves no other file", async () => {
    const at = await bench();
    const file = await put(at, "elsewhere/mcp.json", `\uFEFF{\r\n\t"mcpServers": {}\r\n}\r\n`);
    await chmod(file, 0o640);
    await mkdir(join(at.home, ".cursor"));
    await symlink(file, join(at.home, ".cursor", "mcp.json"));
    expect((await at.run("install", "cursor", "--name", "x", "--url", url)).code).toBe(0);
    expect(await at.read("elsewhere/mcp.json")).toBe(
      `\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"x": {\r\n\t\t\t"url": "${url}"\r\n\t\t}\r\n\t}\r\n}\r\n`,
    );
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    expect((await lstat(join(at.home, ".cursor", "mcp.json"))).isSymbolicLink()).toBe(true);
    expect(await readdir(join(at.home, "elsewhere"))).toEqual(["mcp.json"]);
  });

  it.each(["http://localhost:1/", "http://127.9.9.9/", "http://[::1]:1/", "https://ci.example/mcp"])(
    "accepts the variable of a token for %s, to which no request goes unencrypted",
    async (safe) => {
      const at = await bench();
      expect((await at.run("install", "cursor", "--token-env", "A", "--url", safe)).code).toBe(0);
    },
  );

  it.each([
    ["user", 0o022, ".cursor/mcp.json", 0o600],
    ["project", 0o022, "project/.cursor/mcp.json", 0o644],
    ["project", 0o027, "project/.cursor/mcp.json", 0o640],
  ] as const)(
    "creates a file for a %s with a umask of %o with its permissions",
    async (...[scope, mask, path, mode]) => {
      const at = await bench();
      const before = process.umask(mask);
      try {
        await at.run("install", "cursor", "--scope", scope, "--url", url);
      } finally {
        process.umask(before);
      }
      expect((await stat(join(at.home, path))).mode & 0o777).toBe(mode);
    },
  );

  it("creates a file readable by its owner only in the home folder, where clients keep secrets in it", async () => {
    const there = await bench();
    const at = await bench({ home: there.home, cwd: there.home });
    await at.run("install", "codex", "--name", "x", "--scope", "project", "--url", url);
    expect((await stat(join(there.home, ".codex/config.toml"))).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["the file", ".mcp.json", "claude-code"],
    ["its folder", ".cursor", "cursor"],
    ["a folder that is not there", ".vscode", "vscode"],
  ])("refuses %s of a project when a link leads out of the project", async (_what, link, client) => {
    const at = await bench();
    const { home, cwd } = at;
    await mkdir(cwd, { recursive: true });
    await mkdir(join(home, "outside"), { recursive: true });
    await writeFile(join(home, "outside", "mcp.json"), "{}");
    const leadsTo = { ".mcp.json": "outside/mcp.json", ".cursor": "outside", ".vscode": "nowhere" }[link] ?? "";
    await symlink(join(home, leadsTo), join(cwd, link));
    const { code, err } = await at.run("install", client, "--scope", "project", "--", "node", "server.js");
    expect([code, err]).toEqual([1, expect.stringMatching(/leads (?:out of the project|nowhere)/)]);
    expect(await at.read("outside", "mcp.json")).toBe("{}");
    expect(await at.read("nowhere", "mcp.json")).toBeUndefined();
  });

  it("follows a link within the project, and a link of a user's own file", async () => {
    const at = await bench();
    const { home, cwd } = at;
    await mkdir(join(cwd, "config"), { recursive: true });
    await writeFile(join(cwd, "config", "mcp.json"), "{}");
    await symlink(join("config", "mcp.json"), join(cwd, ".mcp.json"));
    await mkdir(join(home, "dotfiles"));
    await writeFile(join(home, "dotfiles", "claude.json"), "{}");
    await symlink(join(home, "dotfiles", "claude.json"), join(home, ".claude.json"));
    expect(await at.run("install", "claude-code", "--scope", "project", "--", "node")).toMatchObject({ code: 0 });
    expect(await at.run("install", "claude-code", "--", "node")).toMatchObject({ code: 0 });
    expect(await at.read("project", "config", "mcp.json")).toContain("surface-mcp");
    expect(await at.read("dotfiles", "claude.json")).toContain("surface-mcp");
  });

  it.runIf(process.platform !== "win32")("refuses a pipe as a lock or a file at once", async () => {
    const at = await bench();
    const { home } = at;
    const pipe = async (name: string): Promise<void> => void (await promisify(execFile)("mkfifo", [join(home, name)]));
    await pipe(".claude.json.lock");
    const locked = await at.run("install", "claude-code", "--", "node");
    expect(locked).toMatchObject({ code: 1, err: expect.stringContaining("it must be a file; remove it") });
    await rm(join(home, ".claude.json.lock"));
    await pipe(".claude.json");
    expect(await at.run("install", "claude-code", "--", "node")).toMatchObject({
      code: 1,
      err: expect.stringContaining("not a regular file"),
    });
  });

  it.each([
    "https://${HOST:-Example.com}/a/${Part}?key=${KEY}&x=%20",
    "http://localhost:${PORT}/mcp?n=65535",
    "http://${HOST:-a/b}:${PORT:-3000}/${PORT}",
    "${BASE_URL:-https://a.example}/mcp",
    "${URL}",
  ])("keeps references to variables in a URL: %s", async (open) => {
    const at = await bench();
    const ran = await at.run("install", "claude-code", "--name", "x", "--project", "65535", "--url", open);
    expect(ran).toMatchObject({ code: 0, err: "" });
    const whole = `${open}${open.includes("?") ? "&" : "?"}project=65535`;
    expect(JSON.parse((await at.read(".claude.json")) ?? "")).toMatchObject({ mcpServers: { x: { url: whole } } });
    const listed = await at.run("install", "--list");
    expect(listed.out).toBe(`claude-code  user  x  ${open.replace(/\?.*/, "")}?project=65535\n`);
  });

  it("keeps references that a client replaces in a command, and refuses others in a command or URL", async () => {
    const at = await bench();
    const printed = async (client: string, ...target: readonly string[]): Promise<string> => {
      const { out, err } = await at.run("install", client, "--print", ...target);
      return out + err;
    };
    expect(await printed("claude-code", "--", "${HOME}/server", "${ARG}")).toContain('"${HOME}/server"');
    expect(await printed("vscode", "--url", "https://a.example/${env:PART}")).toContain(
      '"https://a.example/${env:PART}"',
    );
    expect(await printed("cursor", "--", "node", "${workspaceFolder}/a.js")).toContain('"${workspaceFolder}/a.js"');
    const refused = (why: string): object => ({ code: 1, out: "", err: expect.stringContaining(why) });
    for (const client of ["cursor", "vscode"]) {
      expect(await at.run("install", client, "--", "${HOME}/a")).toMatchObject(refused("write it as ${env:NAME}"));
    }
    expect(await at.run("install", "claude-code", "--url", "https://h/${env:A}")).toMatchObject(
      refused("write it as ${NAME}"),
    );
    for (const client of ["codex", "claude-desktop"]) {
      expect(await at.run("install", client, "--", "${HOME}/a")).toMatchObject(
        refused(`${client} replaces no variables`),
      );
    }
  });

  it.each([
    ["cursor", '"${X}", "${Y-1}" unchanged; for a variable that cursor replaces, write ${env:NAME}'],
    ["claude-code", 'receives "${Y-1}" unchanged; for a variable that claude-code replaces, write ${NAME}'],
    ["codex", '"${X}", "${Y-1}" unchanged'],
  ])("installs an argument with a reference that %s does not replace, and warns", async (client, warning) => {
    const at = await bench();
    const ran = await at.run("install", client, "--print", "--", "bash", "-c", "echo ${X}; exec a ${Y-1} ${X}");
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("echo ${X}; exec a ${Y-1} ${X}") });
    expect(ran.err).toContain("surface-mcp: warning: the command receives ");
    expect(ran.err).toContain(warning);
  });

  it("shows control characters of a path as escapes", async () => {
    const { home } = await bench();
    const at = await bench({ home: join(home, "a\u001b[31mb") });
    const { out } = await at.run("install", "claude-code", "--", "node");
    expect(out).toContain(String.raw`a\u{1b}[31mb`);
    expect(out).not.toContain("\u001b");
  });

  it("refuses a dangling link", async () => {
    const at = await bench();
    await mkdir(join(at.home, ".cursor"));
    await symlink(join(at.home, "gone"), join(at.home, ".cursor", "mcp.json"));
    expect((await at.run("install", "cursor", "--url", url)).err).toContain("the link leads nowhere");
  });

  it.each([
    ["a URL for Claude Desktop", 1, ["claude-desktop", "--url", url], "takes commands alone"],
    ["Claude Desktop for a project", 1, ["claude-desktop", "--scope", "project", "--", "a"], "no file for a project"],
    ["a password in the URL", 1, ["cursor", "--url", "http://a:b@c/"], "must hold no password"],
    [
      "a token over plain HTTP",
      1,
      ["cursor", "--token-env", "A", "--url", "http://ci.example/mcp"],
      `the token would go to "ci.example" unencrypted; use a URL that begins with "https://", or leave out "--token-env"`,
    ],
    [
      "a token to the host of a variable",
      1,
      ["claude-code", "--token-env", "A", "--url", "http://${HOST}/mcp"],
      'the token would go to "${HOST}" unencrypted',
    ],
    [
      "a token to the URL of a variable",
      1,
      ["claude-code", "--token-env", "A", "--url", "${BASE}/mcp"],
      'the token would go to "${BASE}" unencrypted',
    ],
    ["a port that is none", 2, ["claude-code", "--url", "http://h:8${P}/${Q}"], 'is "http://h:8${P}/${Q}"'],
    ["a scheme of a variable", 2, ["claude-code", "--url", "${S}://h/mcp"], 'begins with "${S}:"'],
    ["no client", 2, ["--url", url], "name one client of"],
    ["an unknown client", 2, ["emacs", "--url", url], `is "emacs"`],
    ["no server", 2, ["cursor"], `it needs either "--url URL" or`],
    ["two servers", 2, ["cursor", "--url", url, "--", "a"], `it needs either "--url URL" or`],
    ["no URL", 2, ["cursor", "--url", "nowhere"], "must be a URL"],
    ["a URL of another kind", 2, ["cursor", "--url", "file:///etc/passwd"], `begins with "file:"`],
    ["a view twice", 2, ["cursor", "--surface", "a", "--url", `${url}?surface=b`], "already has a surface"],
    ["an empty view", 2, ["cursor", "--surface", "", "--url", url], `"--surface" must be`],
    ["a view of 10 kB", 2, ["cursor", "--surface", "a".repeat(10_000), "--url", url], `"--surface" must be`],
    ["a name with a dot", 2, ["cursor", "--name", "a.b", "--url", url], `"--name" must be`],
    ["a name that means something", 2, ["cursor", "--name", "__proto__", "--url", url], `begin with a letter or digit`],
    ["an unknown scope", 2, ["cursor", "--scope", "world", "--url", url], "must be user or project"],
    ["an unknown option", 2, ["cursor", "--frobnicate", "--url", url], "--frobnicate"],
    ["a variable of a command", 2, ["cursor", "--token-env", "A", "--", "a"], `"--token-env" needs "--url"`],
    ["two clients", 2, ["cursor", "vscode", "--url", url], "name one client of"],
    ["a list with more", 2, ["--list", "--url", url], `"--url" does not go with "--list"`],
  ])("answers %s with code %d and a message", async (...[, code, args, message]) => {
    const at = await bench();
    const ran = await at.run("install", ...args);
    expect(ran).toMatchObject({ code, out: "" });
    expect(ran.err).toContain(message);
    expect(await readdir(at.home)).toEqual([]);
  });

  it("does not print a token given in place of the name of a variable", async () => {
    const at = await bench();
    const ran = await at.run("install", "cursor", "--token-env", "sk-very-secret", "--url", url);
    expect(ran.code).toBe(2);
    expect(ran.err).not.toContain("sk-very-secret");
  });
});

describe("install --list", () => {
  it("lists every server of every client with its view, and no secret", async () => {
    const at = await bench();
    await at.run("install", "cursor", "--surface", "hub", "--name", "a", "--url", `http://h/mcp?key=secret`);
    await at.run("install", "codex", "--surface", "readonly", "--name", "b", "--", "node", "--token=secret");
    await put(
      at,
      "project/.mcp.json",
      `{ "mcpServers": { "c": { "command": "x" }, "d": { "url": "http://u:secret@h/" } } }`,
    );
    expect(await at.run("install", "--list")).toEqual({
      code: 0,
      out: [
        "claude-code  project  c  x",
        "claude-code  project  d  http://h/",
        "cursor       user     a  http://h/mcp?surface=hub",
        "codex        user     b  node … --surface readonly\n",
      ].join("\n"),
      err: "",
    });
    expect((await at.run("install", "--list", "codex")).out).toBe("codex  user  b  node … --surface readonly\n");
    expect((await at.run("install", "--list", "codex", "--scope", "project")).out).toBe("no servers\n");
  });

  it("lists the readable files, and fails, when one file is broken", async () => {
    const at = await bench();
    await at.run("install", "codex", "--name", "b", "--url", url);
    const file = await put(at, ".cursor/mcp.json", "{");
    const ran = await at.run("install", "--list");
    expect(ran).toMatchObject({ code: 1, out: `codex  user  b  ${url}\n` });
    expect(ran.err).toContain(`Cannot read "${file}": it is not JSON in line 1`);
  });

  it("shows control characters of a file as escapes", async () => {
    const at = await bench();
    await put(at, ".cursor/mcp.json", `{ "mcpServers": { "\\u001b[31m": { "command": "a\\u0007" } } }`);
    expect((await at.run("install", "--list")).out).toBe("cursor  user  \\u{1b}[31m  a\\u{7}\n");
  });
});

describe("install --remove", () => {
  it("counts one file of user and project once when the project is the home folder", async () => {
    const there = await bench();
    const at = await bench({ home: there.home, cwd: there.home });
    await at.run("install", "codex", "--name", "x", "--scope", "project", "--url", url);
    expect((await at.run("install", "--list")).out).toBe(`codex  user  x  ${url}\n`);
    expect((await at.run("install", "--list", "--scope", "project")).out).toBe(`codex  project  x  ${url}\n`);
    expect((await at.run("install", "--remove", "x")).code).toBe(0);
  });

  it("restores every file byte for byte", async () => {
    const at = await bench();
    const before: Readonly<Record<string, string>> = {
      ".claude.json": `{\n  "numStartups": 7, // of mine\n  "mcpServers": {\n    "z": {}\n  }\n}\n`,
      ".cursor/mcp.json": `{"mcpServers":{"z":{}}}`,
      ".codex/config.toml": `model = "m" # mine\n\n[mcp_servers.z]\ncommand = "c"\n`,
    };
    for (const [path, text] of Object.entries(before)) await put(at, path, text);
    for (const client of ["claude-code", "cursor", "codex"]) {
      await at.run("install", client, "--name", "x", "--surface", "hub", "--token-env", "T", "--url", url);
      expect((await at.run("install", "--remove", "x", client)).code).toBe(0);
    }
    for (const [path, text] of Object.entries(before)) expect(await at.read(path)).toBe(text);
  });

  it("asks for a client when more than one has the server", async () => {
    const at = await bench();
    for (const client of ["cursor", "codex"]) await at.run("install", client, "--name", "x", "--url", url);
    const ran = await at.run("install", "--remove", "x");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("is in cursor (user), codex (user)");
    expect((await at.run("install", "--remove", "x", "codex")).out).toBe(
      `removed "x" from "${join(at.home, ".codex/config.toml")}"\n`,
    );
    expect((await at.run("install", "--remove", "x")).code).toBe(0);
    expect((await at.run("install", "--remove", "x")).err).toContain(
      `no client has a server of this name; "--list" shows all`,
    );
  });
});
