import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { cell, cellSource, defineSurface, implementSurface, listenUnixSocket } from "surface-mcp";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";

import { bringUp } from "../../examples/ci/bring-up.ts";
import { ownState } from "../../examples/ci/own-state.ts";
import type { CoordinatorOptions } from "../../examples/ci/read-options.ts";
import { makeStateDir, socketIn } from "../../examples/ci/state-dir.ts";
import { eventually, removeFolder } from "./ci-support.ts";

let dir = "";
let state = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "ci-bring-up-"));
  state = await makeStateDir(join(dir, "state"));
});
afterEach(() => removeFolder(dir));

async function options(): Promise<CoordinatorOptions> {
  const path = join(dir, "pipeline.json");
  await writeFile(path, JSON.stringify({ name: "sample", nodes: { a: { command: ["true"] } } }));
  return { pipeline: path, state, tied: false, temporary: false };
}

describe("bringing a coordinator up", { timeout: 60_000 }, () => {
  it("refuses at once, and starts none, when what listens has another surface", async () => {
    const live = implementSurface(defineSurface("other", { nodes: cell({ schema: z.number() }) }), {
      nodes: cellSource(1),
    });
    onTestFinished(() => live.close());
    await listenUnixSocket(live, socketIn(state));
    await expect(bringUp(await options(), new AbortController().signal)).rejects.toMatchObject({
      code: "COORDINATOR_MISMATCH",
    });
    expect(await readdir(state)).toEqual(["pipeline.sock"]);
  });

  it("refuses at once, and starts none, when what listens speaks another protocol", async () => {
    const server = createServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    server.listen(socketIn(state));
    await once(server, "listening");
    await chmod(socketIn(state), 0o600);
    onTestFinished(() => void server.close());
    await expect(bringUp(await options(), new AbortController().signal)).rejects.toMatchObject({
      code: "COORDINATOR_MISMATCH",
    });
    expect(await readdir(state)).toEqual(["pipeline.sock"]);
  });

  it("starts another one when the first found the state taken by one that was about to end", async () => {
    const owned = await ownState(state);
    onTestFinished(() => owned.release());
    const up = bringUp(await options(), new AbortController().signal);
    await eventually(async () => {
      const log = await readFile(join(state, "coordinator.log"), "utf8").catch(() => "");
      return log.includes("owner.sock") ? true : undefined;
    });
    await owned.release();
    await up;
    const [, pid] = /"kind":"opened","pid":(\d+)/.exec(await readFile(join(state, "journal.jsonl"), "utf8")) ?? [];
    expect(process.kill(Number(pid), "SIGKILL")).toBe(true);
  });
});
