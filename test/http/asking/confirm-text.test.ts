import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { http } from "../../../src/http/index.ts";
import {
  cellSource,
  collection,
  defineSurface,
  implementSurface,
  listenUnixSocket,
  mcp,
  mcpTool,
  operationRegistry,
  procedure,
  Refusal,
  unixSocket,
  type ConfirmContext,
} from "../../../src/index.ts";
import { askedClients } from "./asking-clients.ts";

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const Issue = z.object({ id: z.number() });
const issues = collection({ key: z.number(), schema: z.string() });
const tracker = defineSurface("tracker", {
  issues,
  close: mcpTool(procedure({ input: Issue, title: "Close an issue" }), {
    confirm: async ({ id }, { client }: ConfirmContext<{ issues: typeof issues }>) => {
      const title = await client.issues.get(id);
      if (title === undefined) throw new Refusal("NOT_FOUND", `there is no issue ${id}`);
      return `Close "${title}"?`;
    },
  }),
  reopen: procedure({ input: Issue }),
});

/** An app over a tracker in another part of the process, reached by a socket; what is done there. */
async function serve() {
  const folder = await mkdtemp(join(tmpdir(), "confirm-"));
  const titles = cellSource<ReadonlyMap<number, string>>(new Map([[7, "Crash on start"]]));
  const done: string[] = [];
  const live = implementSurface(tracker, {
    issues: titles,
    close: ({ id }) => void done.push(`close ${id}`),
    reopen: ({ id }) => void done.push(`reopen ${id}`),
  });
  const listening = await listenUnixSocket(live, join(folder, "s.sock"));
  const operations = operationRegistry();
  operations.register({ name: "wipe", inputSchema: Issue, confirm: ({ id }) => `Wipe ${id}?` }, () =>
    done.push("wipe"),
  );
  const app = mcp(tracker)
    .expose({
      reopen: {
        tool: {
          confirm: async ({ id }, { client, caller }) => ({
            message: `Reopen ${id}?`,
            details: [`${(await client.issues.keys()).length} issues`, caller.id],
          }),
        },
      },
    })
    .bridge(unixSocket(listening.path))
    .tools({
      sweep: {
        input: z.object({ days: z.number().default(30) }),
        confirm: async ({ days }, { client }) => `Close ${(await client.issues.keys()).length} of ${days} days?`,
        handler: ({ days }) => done.push(`sweep ${days}`),
      },
    })
    .mount("ops", operations);
  const serving = await app.serve(http({ port: 0, exit: false }));
  ending.push(
    () => rm(folder, { recursive: true, force: true }),
    () => live.close(),
    () => listening.close(),
    () => serving.close(),
  );
  return { url: serving.url, done, titles };
}

describe.each(askedClients)("a confirmation in the author's words, with $name", ({ connect }) => {
  it("is read by the user, of tags, exposed members, tools by hand and mounted operations", async () => {
    const { url, done } = await serve();
    const read: unknown[] = [];
    const client = await connect(url, {
      elicit: async ({ message }) => (read.push(message), { action: "accept", content: {} }),
    });
    ending.push(() => client.close());
    await client.callTool({ name: "close", arguments: { id: 7 } });
    await client.callTool({ name: "reopen", arguments: { id: 7 } });
    await client.callTool({ name: "sweep", arguments: {} });
    await client.callTool({ name: "ops_wipe", arguments: { id: 7 } });
    expect(read).toEqual([
      'Close "Crash on start"?\nTool: "Close an issue"\nid: 7',
      'Reopen 7?\n- 1 issues\n- anonymous\nTool: "reopen"\nid: 7',
      'Close 1 of 30 days?\nTool: "sweep"\ndays: 30',
      'Wipe 7?\nTool: "ops_wipe"\nid: 7',
    ]);
    expect(done).toEqual(["close 7", "reopen 7", "sweep 30", "wipe"]);
    const missing = await client.callTool({ name: "close", arguments: { id: 8 } });
    expect(JSON.stringify(missing)).toContain("there is no issue 8");
    expect([read.length, done.length]).toEqual([4, 4]);
  });

  it("asks again when the application changed while the user read the question", async () => {
    const { url, done, titles } = await serve();
    const read: unknown[] = [];
    const client = await connect(url, {
      elicit: async ({ message }) => {
        read.push(String(message).split("\n")[0]);
        titles.set(new Map([[7, "Release 2.0"]]));
        return { action: read.length === 1 ? "accept" : "decline" };
      },
    });
    ending.push(() => client.close());
    const answer = await client.callTool({ name: "close", arguments: { id: 7 } });
    expect(JSON.stringify(answer)).toContain("DECLINED");
    expect(read).toEqual(['Close "Crash on start"?', 'Close "Release 2.0"?']);
    expect(done).toEqual([]);
  });
});
