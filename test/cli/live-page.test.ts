import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { root } from "../architecture/source.ts";
import { modernLine } from "../fixtures/envelope.ts";
import { socketPath, startInspected, untilListening } from "../fixtures/inspected-process.ts";
import { codeOf, cookieOf, post, tokenOf } from "../http/inspector/page-harness.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { patience } from "./dev-support.ts";
import { bench } from "./support.ts";

const script = fileURLToPath(new URL("../stdio/fixtures/inspected.mjs", import.meta.url));

const program = join(root, "dist", "cli", "main.js");

interface Command {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<number | null>;
}

function inspectWeb(...args: readonly string[]): Command {
  const child = spawn(process.execPath, [program, "inspect", "--web", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close");
  atEndOfTest(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  return { child, out: () => out, err: () => err, ended: closed.then(() => child.exitCode) };
}

/** A page as a browser has it open. */
interface Browser {
  readonly url: string;
  get(route: string): Promise<Response>;
  post(route: string, body: object): Promise<Response>;
  /** Opens the stream. Returns the events that have come. */
  events(): Promise<{ readonly text: () => string; readonly isEnded: () => boolean }>;
}

async function enter({ out }: Command): Promise<Browser> {
  await vi.waitFor(() => expect(out()).toMatch(/^http:\S+\n$/), patience);
  const link = out().trim();
  const [url = ""] = link.split("#");
  const headers = { cookie: cookieOf(await post(`${url}enter`, { token: tokenOf(link) })) };
  return {
    url,
    get: (route) => fetch(`${url}${route}`, { headers }),
    post: (route, body) => post(`${url}${route}`, body, headers),
    async events() {
      const response = await fetch(`${url}events`, { headers });
      let text = "";
      let isEnded = false;
      const read = async (): Promise<void> => {
        for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
      };
      const end = (): void => void (isEnded = true);
      // A command that exits may cut the stream.
      void read().then(end, end);
      return { text: () => text, isEnded: () => isEnded };
    },
  };
}

/** Speaks to each connection by a function. Returns its socket. */
async function listenAs(speak: (socket: NodeJS.WritableStream) => void): Promise<string> {
  const path = await socketPath();
  await mkdir(dirname(path), { mode: 0o700 });
  const server = createServer((socket) => {
    atEndOfTest(() => socket.destroy());
    socket.on("error", () => {});
    speak(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  atEndOfTest(() => server.close());
  return path;
}

describe("inspect --web", { timeout: 90_000 }, () => {
  it("serves the page of a server over stdio by all routes, until Ctrl-C", async () => {
    const path = await socketPath();
    const server = startInspected(script, path);
    await untilListening(server);
    const command = inspectWeb(path);
    const browser = await enter(command);
    expect(await (await fetch(browser.url)).text()).toContain("<html");
    expect((await fetch(`${browser.url}events`)).status).toBe(401);
    const events = await browser.events();
    await vi.waitFor(() => expect(events.text()).toMatch(/^event: snapshot\ndata: .*"name":"hostile"/), patience);
    await server.send(modernLine(1, "tools/call", { name: "slow", arguments: { ms: 60_000 } }));
    const running = /"calls":\{"rows":\[\{"id":"([^"]+)"/;
    await vi.waitFor(() => expect(events.text()).toMatch(running), patience);
    expect(await (await browser.get("exposure")).json()).toMatchObject({ views: [{ name: "default" }] });
    expect(await (await browser.get("entry?id=echo&kind=tool")).json()).toMatchObject({ id: "echo" });
    expect((await browser.get("entry?id=absent")).status).toBe(404);
    expect((await browser.post("cancel", { call: "absent" })).status).toBe(404);
    expect((await browser.post("decide", { approval: "a", agree: true })).status).toBe(404);
    expect((await browser.post("cancel", { call: running.exec(events.text())?.[1] })).status).toBe(204);
    await vi.waitFor(() => expect(events.text()).toContain('"outcome":"cancelled"'), patience);
    expect(await (await browser.get("history?tool=slow")).json()).toMatchObject({ rows: [{ outcome: "cancelled" }] });
    // A second page begins with a snapshot that has the updates.
    const later = await browser.events();
    await vi.waitFor(() => expect(later.text()).toMatch(/^event: snapshot\ndata: .*"outcome":"cancelled"/), patience);
    command.child.kill("SIGINT");
    expect(await command.ended).toBe(0);
    expect(command.err()).toBe("");
    expect(server.ended).toBe(false);
  });

  it("shows a server as away, and the next one when it is back", async () => {
    const path = await socketPath();
    const server = startInspected(script, path);
    await untilListening(server);
    const command = inspectWeb(path);
    const browser = await enter(command);
    const events = await browser.events();
    await vi.waitFor(() => expect(events.text()).toContain("\n\n"), patience);
    const instance = (text: string): string | undefined => /"instance":"([^"]+)"/.exec(text)?.[1];
    await server.kill();
    await vi.waitFor(() => expect(events.isEnded()).toBe(true), patience);
    for (const route of ["events", "history", "exposure"]) {
      const answer = await browser.get(route);
      expect([answer.status, await codeOf(answer)]).toEqual([503, "AWAY"]);
    }
    expect((await fetch(browser.url)).status).toBe(200);
    expect(command.err()).toBe("surface-mcp: the server is away; the page waits for it\n");
    await untilListening(startInspected(script, path));
    await vi.waitFor(async () => expect((await browser.get("history")).status).toBe(200), patience);
    const later = await browser.events();
    await vi.waitFor(() => expect(instance(later.text())).toBeDefined(), patience);
    expect(instance(later.text())).not.toBe(instance(events.text()));
    expect(command.err()).toContain("surface-mcp: the server is back\n");
  });

  it("shows a server that is stopped as away when it does not answer", async () => {
    const path = await socketPath();
    const server = startInspected(script, path);
    await untilListening(server);
    const browser = await enter(inspectWeb(path));
    server.child.kill("SIGSTOP");
    const answer = await browser.get("exposure");
    expect([answer.status, await codeOf(answer)]).toEqual([503, "AWAY"]);
    server.child.kill("SIGCONT");
    await vi.waitFor(async () => expect((await browser.get("history")).status).toBe(200), patience);
  });

  it.each([
    ["a socket where no process listens", () => socketPath(), "no process listens there"],
    ["another protocol", () => listenAs((socket) => socket.write("Content-Length: 2\r\n\r\n{}")), "no live page"],
    ["another version", () => listenAs((socket) => socket.write('{"version":2,"snapshot":{}}\n')), "writes version 2"],
    ["updates without a snapshot", () => listenAs((socket) => socket.write('{"update":{}}\n')), "no live page"],
    ["an end", () => listenAs((socket) => socket.end()), "no live page"],
  ])("ends with 2 for %s", async (_what, path, words) => {
    const command = inspectWeb(await path());
    expect(await command.ended).toBe(2);
    expect(command.err()).toContain(words);
    expect(command.err().trim().split("\n")).toHaveLength(1);
    expect(command.out()).toBe("");
  });

  it("names the variable for the server if no process listens", async () => {
    const path = await socketPath();
    const command = inspectWeb(path);
    expect(await command.ended).toBe(2);
    expect(command.err()).toContain(`start the server with SURFACE_MCP_INSPECT=${path}`);
  });

  it.each([
    [["--web"], "name the socket: the value of SURFACE_MCP_INSPECT"],
    [["--web", "--port", "1"], "name the socket: the value of SURFACE_MCP_INSPECT"],
    [["--web", "http://127.0.0.1:4000/mcp"], 'start that server with "http({ inspector: true })"'],
    [["--web", "a.sock", "app.ts"], '"--web" takes one socket'],
    [["--web", "a.sock", "--json"], '"--web" takes one socket'],
    [["--web", "a.sock", "--url", "http://127.0.0.1/mcp"], '"--web" takes one socket'],
    [["--web", "a.sock", "--port", "x"], '"--port" must be a number'],
    [["--web", ""], '"--web" must not be empty'],
    [["app.ts", "--port", "1"], '"--port" is for "--web"'],
  ])("refuses %j", async (args, words) => {
    const ran = await (await bench()).run("inspect", ...args);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain(words);
  });
});
