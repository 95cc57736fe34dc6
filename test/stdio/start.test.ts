import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import {
  cell,
  cellSource,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  operationRegistry,
  procedure,
} from "../../src/index.ts";
import type { AppRuntime, ServableApp } from "../../src/mcp/servable-app.ts";
import { stdio } from "../../src/stdio/stdio.ts";
import { guardStdout } from "../../src/links/stdout-guard.ts";
import { createHostileApp } from "../fixtures/hostile.ts";

/** An app that records when it is opened and closed. */
function watched(events: string[]): ServableApp {
  return {
    open(): AppRuntime {
      events.push("opened");
      const runtime = createHostileApp().open();
      const close = async (): Promise<void> => {
        events.push("closed");
        await runtime.close();
      };
      return { ...runtime, close };
    },
  };
}

const closedInput = (): PassThrough =>
  Object.assign(new PassThrough(), {
    on: () => {
      throw new Error("cannot be listened to");
    },
  });

const { argv, execArgv } = process;
afterEach(() => {
  vi.restoreAllMocks();
  Object.assign(process, { argv, execArgv });
});

/** Makes this process look like one that a command has started. */
function startedBy(options: readonly string[], ...command: readonly string[]): void {
  Object.assign(process, { argv: command, execArgv: options });
}

const counter = defineSurface("counter", {
  value: mcpResource(cell({ schema: z.number() })),
  bump: mcpTool(procedure({})),
  reset: mcpTool(procedure({})),
});
const counting = mcp(counter).implement({ value: cellSource(0), bump: () => 1, reset: () => 0 });

/** Serves from an input, and returns the text that was written to standard error meanwhile. */
async function announcedFor(input: PassThrough, app: Pick<typeof counting, "serve"> = counting): Promise<string> {
  const written: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((chunk) => written.push(String(chunk)) > 0);
  const serving = await app.serve(stdio({ input, output: new PassThrough(), exit: false }));
  await serving.close();
  return written.join("");
}

describe("stdio()", () => {
  const terminal = (): PassThrough => Object.assign(new PassThrough(), { isTTY: true });

  it("prints on a terminal its entries and the command of the inspector", async () => {
    startedBy([], "/usr/bin/node", `${process.cwd()}/my server.js`, "--verbose");
    expect(await announcedFor(terminal())).toBe(
      "counter: 2 tools, 1 resource over stdio, waiting for an MCP host; look at it with: " +
        "npx @modelcontextprotocol/inspector node 'my server.js' --verbose\n",
    );
  });

  const tsx = "/home/ada/app/node_modules/tsx/dist";
  it.each([
    ["node server.js", [], "/usr/bin/node"],
    ["node --import tsx server.js", ["--import", "tsx"], "/usr/bin/node"],
    ["bun server.js", [], "/opt/bun"],
    [
      "npx tsx server.js",
      ["--require", `${tsx}/preflight.cjs`, "--import", `file://${tsx}/loader.mjs`],
      "/usr/bin/node",
    ],
    ["npx tsx --inspect server.js", ["--import", `file://${tsx}/loader.mjs`, "--inspect"], "/usr/bin/node"],
  ])("prints the command as a person types it: %s", async (typed, options, executable) => {
    startedBy(options, executable, `${process.cwd()}/server.js`);
    expect(await announcedFor(terminal())).toMatch(new RegExp(`inspector ${typed}\n$`));
  });

  it("prints the absolute path of a file outside of the working directory", async () => {
    startedBy([], "/usr/bin/node", "/srv/server.js");
    expect(await announcedFor(terminal())).toMatch(/inspector node \/srv\/server\.js\n$/);
  });

  it("prints nothing for a host", async () => {
    expect(await announcedFor(new PassThrough())).toBe("");
  });

  it("prints a warning if agents can reach nothing, also for a host, unless something may be mounted later", async () => {
    const bare = defineSurface("bare", { bump: procedure({}) });
    const empty = mcp(bare).implement({ bump: () => 1 });
    expect(await announcedFor(new PassThrough(), empty)).toMatch(
      /^bare: agents can reach nothing: tag a member with mcpTool/,
    );
    expect(await announcedFor(new PassThrough(), empty.mount("hub", operationRegistry()))).toBe("");
  });

  it("does not open the app when standard output is guarded already", async () => {
    const events: string[] = [];
    const guard = guardStdout();
    try {
      const serving = stdio({ input: new PassThrough(), exit: false }).serve(watched(events));
      const message = expect.stringContaining("stdio is already being served") as string;
      await expect(serving).rejects.toMatchObject({ code: "CONTRADICTION", message });
    } finally {
      guard.restore();
    }
    expect(events).toEqual([]);
  });

  it("closes the app and restores standard output when it cannot start", async () => {
    const events: string[] = [];
    const serving = stdio({ input: closedInput(), exit: false }).serve(watched(events));
    await expect(serving).rejects.toThrow("cannot be listened to");
    expect(events).toEqual(["opened", "closed"]);
    guardStdout().restore();
  });

  it("restores standard output when the app cannot be opened", async () => {
    const broken: ServableApp = {
      open() {
        throw new Error("there is no link");
      },
    };
    const serving = stdio({ input: new PassThrough(), exit: false }).serve(broken);
    await expect(serving).rejects.toThrow("there is no link");
    guardStdout().restore();
  });
});
