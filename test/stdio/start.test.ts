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

/** An app that says what was done to it. */
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

afterEach(() => {
  vi.restoreAllMocks();
});

const counter = defineSurface("counter", {
  value: mcpResource(cell({ schema: z.number() })),
  bump: mcpTool(procedure({})),
  reset: mcpTool(procedure({})),
});
const counting = mcp(counter).implement({ value: cellSource(0), bump: () => 1, reset: () => 0 });

/** Serves from an input, and returns what was written to standard error by then. */
async function announcedFor(input: PassThrough, app: Pick<typeof counting, "serve"> = counting): Promise<string> {
  const written: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((chunk) => written.push(String(chunk)) > 0);
  const serving = await app.serve(stdio({ input, output: new PassThrough(), exit: false }));
  await serving.close();
  return written.join("");
}

describe("stdio()", () => {
  it("tells a person at a terminal what is served and how to look at it", async () => {
    const { argv } = process;
    try {
      process.argv = ["/usr/bin/node", `${process.cwd()}/my server.ts`, "--verbose"];
      const line = await announcedFor(Object.assign(new PassThrough(), { isTTY: true }));
      expect(line).toMatch(/^counter: 2 tools, 1 resource over stdio, waiting for an MCP host; look at it with: /);
      expect(line).toMatch(/npx @modelcontextprotocol\/inspector node .*'my server\.ts' --verbose\n$/);
    } finally {
      process.argv = argv;
    }
  });

  it("says nothing to a host", async () => {
    expect(await announcedFor(new PassThrough())).toBe("");
  });

  it("says that agents can reach nothing, also to a host, unless something may be mounted later", async () => {
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

  it("closes the app and gives standard output back when it cannot start", async () => {
    const events: string[] = [];
    const serving = stdio({ input: closedInput(), exit: false }).serve(watched(events));
    await expect(serving).rejects.toThrow("cannot be listened to");
    expect(events).toEqual(["opened", "closed"]);
    guardStdout().restore();
  });

  it("gives standard output back when the app cannot be opened", async () => {
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
