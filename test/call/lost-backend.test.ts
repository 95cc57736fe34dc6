import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import type { Link } from "../../src/links/link.ts";
import { listenUnixSocket, unixSocket } from "../../src/links/unix-socket.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { flakyBackend } from "../catalog/resources/flaky-backend.ts";

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.number() })),
  write: mcpTool(procedure({ output: z.string() })),
  read: readOnly(mcpTool(procedure({ output: z.string() }))),
  said: procedure({ output: z.string() }),
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** An app whose procedures wait until they are let go, and count how often they were started. */
function serve() {
  const starts: string[] = [];
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const run = (name: string) => async (): Promise<string> => {
    starts.push(name);
    await released;
    return name;
  };
  const live = implementSurface(
    surface,
    { state: cellSource(1), write: run("write"), read: run("read"), said: run("said") },
    { onFault: () => {} },
  );
  const flaky = flakyBackend(live);
  const app = mcp(surface, { onFault: () => {} })
    .bridge(flaky.link)
    .expose({ said: { tool: { mutates: false } } })
    .tools({
      steps: { handler: (_args, { client }) => client.write.call() },
      look: { mutates: false, handler: (_args, { client }) => client.write.call() },
    });
  const client = createTestClient(app);
  closers.push(async () => {
    release();
    await client.close();
    await live.close();
  });
  const started = async (count: number): Promise<void> => {
    while (starts.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  return { client, flaky, starts, started, release };
}

describe("a call that loses its backend", () => {
  it("says that the outcome is unknown, and is not sent again, when it may have changed something", async () => {
    const { client, flaky, starts, started } = serve();
    const calling = client.tools.write();
    await started(1);
    flaky.down();
    flaky.up();
    const answer = await calling;
    expect(answer).toMatchObject({ isError: true, code: "OUTCOME_UNKNOWN" });
    expect(answer.text).toMatch(/whether the call took effect is unknown: read the state before you try again/);
    expect(answer).not.toHaveProperty("error.retryable");
    expect(starts).toEqual(["write"]);
  });

  it.each(["read", "said"] as const)("is sent again when it only reads, as %s says", async (name) => {
    const { client, flaky, starts, started, release } = serve();
    const calling = client.tools[name]();
    await started(1);
    flaky.down();
    flaky.up();
    await started(2);
    release();
    expect(await calling).toMatchObject({ structured: { value: name } });
    expect(starts).toEqual([name, name]);
  });

  it("says that nothing was sent when its deadline passes before there is a connection", async () => {
    const never: Link = { connect: () => new Promise(() => {}) };
    const timeoutMs = 20;
    const slow = defineSurface("slow", { write: mcpTool(procedure({ output: z.string() }), { timeoutMs }) });
    const client = createTestClient(mcp(slow, { onFault: () => {} }).bridge(never));
    const answer = await client.tools.write();
    expect(answer).toMatchObject({ code: "TIMEOUT", error: { retryable: true } });
    expect(answer.text).toMatch(/nothing was sent/);
    expect(answer.text).not.toMatch(/unknown/);
    await client.close();
  });

  it("reports a read whose answer was lost each time as sent", async () => {
    const { client, flaky, starts, started } = serve();
    const calling = client.tools.read();
    for (let count = 1; count <= 3; count += 1) {
      await started(count);
      flaky.down();
      if (count < 3) flaky.up();
    }
    const answer = await calling;
    expect(answer).toMatchObject({ code: "UNAVAILABLE", error: { retryable: true } });
    expect(answer.text).not.toMatch(/nothing was sent/);
    expect(starts).toHaveLength(3);
  });

  it("answers CONTRACT_MISMATCH when another surface is behind its link, to calls and to reads", async () => {
    const dir = await mkdtemp(join(tmpdir(), "wrong-"));
    const other = defineSurface("other", { state: cell({ schema: z.number() }) });
    const live = implementSurface(other, { state: cellSource(1) });
    await listenUnixSocket(live, join(dir, "s"));
    const client = createTestClient(mcp(surface, { onFault: () => {} }).bridge(unixSocket(join(dir, "s"))));
    for (const name of ["write", "read"] as const) {
      const answer = await client.tools[name]();
      expect(answer).toMatchObject({ code: "CONTRACT_MISMATCH" });
      expect(answer).not.toHaveProperty("error.retryable");
    }
    await expect(client.read("state")).rejects.toMatchObject({ data: { code: "CONTRACT_MISMATCH" } });
    await client.close();
    await live.close();
    await rm(dir, { recursive: true });
  });

  it("says at once that nothing was sent and that it may be tried again when there is no backend", async () => {
    const { client, flaky, starts } = serve();
    flaky.down();
    const answer = await client.tools.write();
    expect(answer).toMatchObject({ code: "UNAVAILABLE", error: { code: "UNAVAILABLE", retryable: true } });
    expect(answer.text).toMatch(/nothing was sent; this server is still running: try again shortly/);
    expect(starts).toEqual([]);
  });

  it("says that the outcome is unknown when a handler of several steps finds no backend", async () => {
    const { client, flaky } = serve();
    flaky.down();
    const answer = await client.tools.steps();
    expect(answer).toMatchObject({ code: "UNAVAILABLE" });
    expect(answer.text).toMatch(/whether the call took effect is unknown/);
    expect(answer).not.toHaveProperty("error.retryable");
    expect(await client.tools.look()).toMatchObject({ code: "UNAVAILABLE", error: { retryable: true } });
  });
});

describe("a read that loses its backend", () => {
  it("waits for it, and says that it may be tried again when it does not come", async () => {
    const { client, flaky } = serve();
    flaky.down();
    const reading = client.read("state");
    await expect(reading).rejects.toMatchObject({
      code: -32_603,
      data: { code: "UNAVAILABLE", retryable: true },
    });
    flaky.up();
    expect(await client.read("state")).toBe(1);
  });
});
