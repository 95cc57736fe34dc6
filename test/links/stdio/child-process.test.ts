import { execFile } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { childProcess, type ChildProcessOptions } from "../../../src/links/child-process.ts";
import type { Connection } from "../../../src/links/link.ts";
import { ManagedProcess, startProcess } from "../../../src/links/stdio/open-child-client.ts";
import { bundleScript } from "../../fixtures/bundle-script.ts";
import { echo } from "../support/echo-surface.ts";
import { until } from "../transport/support.ts";
import { afterThis } from "../unix/support.ts";

type EchoSpec = (typeof echo)["members"];

const fixture = await bundleScript(new URL("fixtures/server.ts", import.meta.url), "link-server");
const host = await bundleScript(new URL("fixtures/host.ts", import.meta.url), "link-host");

interface Opened extends Pick<Connection<EchoSpec>, "client" | "closed"> {
  readonly close: () => Promise<void>;
  /** What it has said to people. */
  readonly stderr: () => string;
}

/** Connects to the fixture. */
async function open(mode = "plain"): Promise<Opened> {
  let stderr = "";
  const link = childProcess(process.execPath, [fixture, mode], {
    onStderr: (text) => (stderr += text),
  });
  const connection = await link.connect(echo);
  afterThis(() => connection.close());
  const { client, closed } = connection;
  return { client, closed, close: () => connection.close(), stderr: () => stderr };
}

function script(code: string, options: ChildProcessOptions = {}): ReturnType<typeof childProcess> {
  return childProcess(process.execPath, ["-e", code], options);
}

describe("childProcess() and serveOverStdio()", () => {
  it("carry uses, keep stray text off the wire, and end without a signal when the connection is closed", async () => {
    const { client, close, closed, stderr } = await open();
    expect(await client.say.call("żółw 🐢")).toBe("żółw 🐢");
    expect((await client.blow.call(3_000_000)).length).toBe(3_000_000);
    await close();
    expect(await closed).toEqual({ kind: "closed" });
    await until(() => stderr().includes("closed\n"));
    expect(stderr()).toBe("stray while it starts\nstray text\nclosed\n");
  });

  it("say goodbye when the listener is closed", async () => {
    const { client, closed, close } = await open("leave");
    expect(await client.say.call("hello")).toBe("hello");
    expect(await closed).toMatchObject({ kind: "gone" });
    await close();
  });

  it("say goodbye when the live surface is closed", async () => {
    const { closed, close } = await open("close");
    expect(await closed).toMatchObject({ kind: "gone" });
    await close();
  });

  it("tell how it ended when the process crashes", async () => {
    const { client, closed } = await open("crash");
    await expect(client.wait.call()).rejects.toMatchObject({ code: "DISCONNECTED" });
    expect(await closed).toMatchObject({ kind: "lost", cause: { message: expect.stringContaining("code 3") } });
  });

  it("refuse a second server in one process", async () => {
    const { stderr } = await open("twice");
    await until(() => stderr().includes("second: "));
    expect(stderr()).toContain("second: CONTRADICTION");
  });

  it("end the process all the same when it stays alive and ignores SIGTERM", async () => {
    const { close, stderr } = await open("stubborn");
    await close();
    expect(stderr()).toContain("SIGTERM");
  });

  it.each(["open", "closing"])("leave no process behind when the one that started it exits while %s", async (mode) => {
    const { stdout } = await promisify(execFile)(process.execPath, [host, fixture, mode]);
    const pid = Number(stdout);
    expect(pid).toBeGreaterThan(0);
    afterThis(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")));
    await until(() => !isAlive(pid));
  });
});

describe("childProcess()", () => {
  it("connect() rejects with UNAVAILABLE when there is no such command", async () => {
    const refused = { code: "UNAVAILABLE", cause: { code: "ENOENT" } };
    await expect(childProcess("/no/such/command").connect(echo)).rejects.toMatchObject(refused);
  });

  it("connect() rejects with UNAVAILABLE when the system cannot even be asked", async () => {
    await expect(childProcess("a\0b").connect(echo)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it("connect() rejects with UNAVAILABLE, and the exit code for a log, when the process ends before it answers", async () => {
    const ended = { code: "UNAVAILABLE", cause: { message: expect.stringContaining("code 7") } };
    await expect(script("process.exit(7)").connect(echo)).rejects.toMatchObject(ended);
  });

  it("connect() rejects with PROTOCOL_MISMATCH, and ends the process, when it prints what it likes", async () => {
    let pid = 0;
    const code = "process.stderr.write(String(process.pid)); setInterval(() => console.log('x'.repeat(1000)), 1)";
    const link = script(code, { onStderr: (text) => (pid = Number(text)) });
    await expect(link.connect(echo)).rejects.toMatchObject({ code: "PROTOCOL_MISMATCH" });
    await until(() => pid > 0 && !isAlive(pid));
  });

  it("connect() ends the process when its signal fires", async () => {
    let pid = 0;
    const abort = new AbortController();
    const connecting = script("process.stderr.write(String(process.pid)); setInterval(() => {}, 1000)", {
      onStderr: (text) => {
        pid = Number(text);
        abort.abort();
      },
    }).connect(echo, { signal: abort.signal });
    await expect(connecting).rejects.toMatchObject({ code: "ABORTED" });
    await until(() => !isAlive(pid));
  });

  it("connect() opens no shell, and hands on arguments, directory and environment, when it is told them", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "surface-mcp-")));
    afterThis(() => rmSync(folder, { recursive: true }));
    let stderr = "";
    const code =
      "process.stderr.write(JSON.stringify([process.argv.slice(1), process.cwd(), process.env.A, process.env.HOME]))";
    const link = childProcess(process.execPath, ["-e", code, "$HOME; `id`", "a b"], {
      cwd: folder,
      env: { A: "b" },
      onStderr: (text) => (stderr += text),
    });
    await expect(link.connect(echo)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await until(() => stderr.endsWith("]"));
    expect(JSON.parse(stderr)).toEqual([["$HOME; `id`", "a b"], folder, "b", null]);
  });

  it("goes on when the receiver of its standard error throws", async () => {
    const link = script("process.stderr.write('a'); setTimeout(() => process.exit(5), 100)", {
      onStderr: () => {
        throw new TypeError("planted");
      },
    });
    await expect(link.connect(echo)).rejects.toMatchObject({ cause: { message: expect.stringContaining("code 5") } });
  });
});

describe("startProcess()", () => {
  it("leaves no listener on this process when what it started has ended, or never did", async () => {
    const before = process.listenerCount("exit");
    const args = ["-e", "process.stdin.resume()"];
    const many = await Promise.all(Array.from({ length: 4 }, () => startProcess({ command: process.execPath, args })));
    expect(process.listenerCount("exit")).toBe(before + 1);
    await expect(startProcess({ command: "/no/such/command", args: [] })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await Promise.all(many.map((one) => one.stop()));
    expect(process.listenerCount("exit")).toBe(before);
  });

  it("tells the signal when the process was killed by one", async () => {
    const spawned = await startProcess({
      command: process.execPath,
      args: ["-e", "process.kill(process.pid, 'SIGKILL')"],
    });
    expect(spawned).toBeInstanceOf(ManagedProcess);
    await until(() => spawned.input.destroyed);
    await spawned.stop();
    expect((await spawned.explain())?.message).toContain('signal "SIGKILL"');
  });

  it("lets go of the output when a process of the process holds it open", async () => {
    const grandchild = "setTimeout(() => {}, 5_000)";
    const code = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(grandchild)}], { stdio: ["ignore", "inherit", "ignore"] }).unref()`;
    const spawned = await startProcess({ command: process.execPath, args: ["-e", code] });
    await until(() => spawned.input.destroyed);
    expect((await spawned.explain())?.message).toContain("code 0");
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
