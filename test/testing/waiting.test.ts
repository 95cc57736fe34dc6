import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { listenUnixSocket } from "../../src/links/unix-socket.ts";
import { cell } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";

const counter = defineSurface("counter", { count: cell({ schema: z.number() }) });
let script: string;
let folder: string;
let child: ChildProcess | undefined;

/** A process of its own, what it says, and how it ends. */
function start(how: string) {
  const path = join(folder, "s.sock");
  child = spawn(process.execPath, [script, how, path], { stdio: ["ignore", "pipe", "inherit"] });
  if (child.stdout === null) throw new Error("there is no output");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const said = async (): Promise<unknown> => JSON.parse((await lines.next()).value ?? "null");
  return { path, said, ended: once(child, "exit") };
}

describe("a process that has nothing else to do", () => {
  beforeAll(async () => {
    script = await bundleScript(new URL("fixtures/waiting-process.ts", import.meta.url), "waiting");
  });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "waiting-"));
  });

  afterEach(() => {
    child?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(["read", "follow"])("stays until it has its answer when a %s waits for the application", async (how) => {
    const { path, said, ended } = start(how);
    expect(await said()).toBe("waiting");
    // Long enough for a process to end that nothing keeps.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const live = implementSurface(counter, { count: cellSource(5) });
    const listening = await listenUnixSocket(live, path);
    expect(await said()).toBe(5);
    expect(await ended).toEqual([0, null]);
    await listening.close();
    await live.close();
  });

  it("ends when all that it does is to watch for changes of an application that is not there", async () => {
    const { said, ended } = start("idle");
    expect(await said()).toBe("watching");
    expect(await ended).toEqual([0, null]);
  });
});
