import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createTestClient } from "surface-mcp/testing";
import { ada as adaUser, addDemoData } from "../../examples/tracker/demo-data.ts";
import { createAgentApp } from "../../examples/tracker/mcp.ts";
import { startServer, type TrackerServer } from "../../examples/tracker/server.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { root } from "../docs/markdown-snippets.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { PostgresServer } from "./postgres-server.ts";
import { agents } from "./tracker-clients.ts";

if (!PostgresServer.isInstalled) console.warn("skipped: there is no Postgres here; apt-get install postgresql");

const open = "surface://tracker/open";
const issues = "surface://tracker/issues";

describe.skipIf(!PostgresServer.isInstalled)("the tracker over a Postgres server", { timeout: 120_000 }, () => {
  let postgres: PostgresServer;
  let server: TrackerServer;
  let token = "";
  beforeAll(async () => {
    postgres = new PostgresServer();
    postgres.start();
    server = await startServer({ databaseUrl: postgres.url });
    token = (await addDemoData(server.db)).ada;
  }, 120_000);
  afterAll(async () => {
    await server.close();
    postgres.remove();
  });

  const connect = (answer: "accept" | "decline" = "accept") =>
    agents.map((agent) => agent.connect({ url: `${server.url}/mcp`, token, answer: () => answer }));

  const post = (url: string, title: string) =>
    fetch(`${url}/api/issues`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ title }),
    });

  /** Starts another process over the same database. It gives the users new tokens. */
  async function startAnother(): Promise<string> {
    const script = await bundleScript(new URL("../../examples/tracker/serve.ts", import.meta.url), "tracker-serve");
    const child = spawn(process.execPath, [script], {
      env: { ...process.env, DATABASE_URL: postgres.url, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    atEndOfTest(async () => {
      child.kill("SIGTERM");
      expect(await once(child, "exit")).toEqual([0, null]);
    });
    let url = "";
    for await (const line of createInterface({ input: child.stdout })) {
      url = /runs at (\S+)/.exec(line)?.[1] ?? url;
      token = /--header "Authorization: Bearer (\w+)"/.exec(line)?.[1] ?? "";
      if (token !== "") break;
    }
    child.stdout.resume();
    return url;
  }

  it("shows the demo of npm start, again and again", async () => {
    const script = await bundleScript(new URL("../../examples/tracker/demo.ts", import.meta.url), "tracker-demo");
    for (let round = 1; round <= 2; round += 1) {
      const env = { ...process.env, DATABASE_URL: postgres.url };
      const run = spawnSync(process.execPath, [script, "--once"], { env, encoding: "utf8", timeout: 60_000 });
      expect(run).toMatchObject({ stderr: "", status: 0, stdout: expect.stringContaining("The agent is notified") });
    }
    token = (await addDemoData(server.db)).ada;
  });

  it("closes issues in a transaction of their own, and keeps nothing of one that failed", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    atEndOfTest(() => logged.mockRestore());
    for (const ada of await Promise.all(connect())) {
      const { value } = await ada.call("issue_create", { title: "A door is open" });
      const id = Number(Reflect.get(Object(value), "id"));
      await server.db.query("ALTER TABLE comments RENAME TO elsewhere");
      expect(await ada.call("issue_close", { id, comment: "Shut" })).toMatchObject({ isError: true });
      await server.db.query("ALTER TABLE elsewhere RENAME TO comments");
      expect(await ada.call("issue_show", { id })).toMatchObject({ value: { state: "open" } });
      expect(await ada.call("issue_close", { id, comment: "Shut" })).toMatchObject({ value: { state: "closed" } });
    }
  });

  it("reads what another process wrote, and notifies those who watch", async () => {
    const other = await startAnother();
    for (const ada of await Promise.all(connect())) {
      const seen = await ada.watch(open);
      const before = Number(await ada.read(open));
      expect((await post(other, "Written by another process")).status).toBe(201);
      expect(await ada.read(open)).toBe(before + 1);
      await vi.waitFor(() => expect(seen.changed).toBeGreaterThan(0), { timeout: 20_000, interval: 20 });
    }
  });

  it("reads a table of 100,000 issues by pages, and never as a whole", async () => {
    await server.db.query(
      "INSERT INTO issues (title, author) SELECT 'Row ' || n, 'ada' FROM generate_series(1, 100000) n",
    );
    const all = await Promise.all(connect());
    const [ada] = all;
    const reads = vi.spyOn(server.db, "query");
    for (const agent of all) {
      const seen = await agent.watch(issues);
      expect(await agent.resources()).toEqual([issues, open]);
      expect(Object(await agent.read(issues)).items).toHaveLength(100);
      expect((await post(server.url, "On top of the list")).status).toBe(201);
      const { items } = Object(await agent.read(`${issues}?limit=1`));
      expect(items).toEqual([{ key: expect.any(Number), item: { title: "On top of the list", state: "open" } }]);
      await vi.waitFor(() => expect(seen.changed).toBeGreaterThan(0), { timeout: 20_000, interval: 20 });
    }
    const rows = await Promise.all(reads.mock.results.map(({ value }) => value));
    reads.mockRestore();
    expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(1001);

    const keys = new Set<number>();
    for (let uri: string | undefined = `${issues}?limit=1000`; uri !== undefined;) {
      const page: { items: { key: number }[]; next?: string } = Object(await ada?.read(uri));
      for (const { key } of page.items) keys.add(key);
      uri = page.next === undefined ? undefined : `${issues}?limit=1000&after=${page.next}`;
    }
    const [count] = await server.db.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM issues WHERE NOT confidential",
    );
    expect(keys.size).toBe(count?.n);
  });

  it("refuses while the database is away, and goes on when it is back", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    atEndOfTest(() => logged.mockRestore());
    const all = await Promise.all(connect());
    const seen = await Promise.all(all.map((ada) => ada.watch(open)));
    postgres.stop();
    const away = await post(server.url, "Nothing can be written");
    expect({ status: away.status, body: await away.json() }).toEqual({
      status: 503,
      body: { error: "the database cannot be reached" },
    });
    for (const ada of all) await expect(ada.read(open)).rejects.toThrow("Tokens cannot be verified now");
    // The database may go between the sign-in and the call.
    const caller = { id: "ada", isAnonymous: false, scopes: ["tracker:read"], claims: { ...adaUser } };
    const signedIn = createTestClient(createAgentApp(server.db), { caller });
    atEndOfTest(() => signedIn.close());
    const refused = { isError: true, text: "DATABASE_AWAY: the database cannot be reached" };
    expect(await signedIn.tools.issue_show({ id: 1 })).toMatchObject(refused);
    await expect(signedIn.read("open")).rejects.toThrow("the database cannot be reached");
    postgres.start();
    expect(await signedIn.tools.issue_show({ id: 1 })).toMatchObject({ isError: false });
    for (const ada of all) expect(await ada.read(open)).toEqual(expect.any(Number));
    expect((await post(server.url, "Written again")).status).toBe(201);
    await vi.waitFor(() => expect(seen.every(({ changed }) => changed > 0)).toBe(true), {
      timeout: 30_000,
      interval: 50,
    });
  });
});

describe("npm start", () => {
  it("shows the tracker in one screen, as its guide does, without an error", { timeout: 60_000 }, async () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(scripts.start).toBe("tsx examples/tracker/demo.ts");
    const args = ["--import", import.meta.resolve("tsx"), "examples/tracker/demo.ts", "--once"];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 50_000 });
    expect(stderr).toBe("");
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    const withoutPort = (text: string): string => text.replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1");
    const guide = readFileSync(join(root, "docs/guide/existing-app.md"), "utf8");
    expect(withoutPort(guide)).toContain(`\`\`\`text\n${withoutPort(stdout)}\`\`\``);
  });

  it("prints a link to the live page, which shows the agents at work until Ctrl-C", { timeout: 60_000 }, async () => {
    const args = ["--import", import.meta.resolve("tsx"), "examples/tracker/demo.ts"];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    atEndOfTest(() => child.kill("SIGKILL"));
    let link = "";
    for await (const line of createInterface({ input: child.stdout })) {
      link = /^ {2}(http:\S+#token=\S+)$/.exec(line)?.[1] ?? link;
      if (line.startsWith("The agents go on")) break;
    }
    child.stdout.resume();
    const [page = "", token = ""] = link.split("#token=");
    const entered = await fetch(new URL("enter", page), {
      method: "POST",
      headers: { "content-type": "application/json", origin: new URL(page).origin },
      body: JSON.stringify({ token }),
    });
    expect(entered.status).toBe(204);
    const headers = { cookie: entered.headers.get("set-cookie")?.split(";")[0] ?? "" };
    await vi.waitFor(
      async () => {
        const { rows } = Object(await (await fetch(new URL("history", page), { headers })).json());
        expect(rows).toContainEqual(expect.objectContaining({ name: "issue_search", caller: "bob", outcome: "ok" }));
      },
      { timeout: 30_000, interval: 200 },
    );
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});
