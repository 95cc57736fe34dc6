import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { CallContext } from "../../src/call/call-context.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { handlersOf } from "../fixtures/handlers-of.ts";

const tasks = defineSurface("tasks", {
  add: mcpTool(procedure({}), { scopes: ["secret-project"] }),
  open: mcpResource(cell({ schema: z.number() })),
});

const reports: string[] = [];
let runtime: AppRuntime | undefined;
afterEach(async () => {
  reports.splice(0);
  await runtime?.close();
});

function openApp(): AppRuntime {
  const onFault = ({ where, cause }: { where: string; cause: unknown }): void => {
    reports.push(`${where}: ${String(cause)}`);
  };
  runtime = mcp(tasks, { onFault })
    .implement({ add: () => {}, open: cellSource(1) })
    .open();
  return runtime;
}

function callerWith(...scopes: readonly string[]): Caller {
  return { id: "ada", isAnonymous: false, scopes };
}

async function listFor(caller: Caller, method: "tools/list" | "resources/list" = "tools/list"): Promise<string> {
  const handlers = handlersOf(runtime ?? openApp());
  const answer = await handlers[method]?.({}, { era: "modern", call: new CallContext({ caller }) });
  return JSON.stringify(answer);
}

describe("An app that requires none of a caller's scopes", () => {
  it("reports the granted and the required scopes to the operator, and not to the caller", async () => {
    openApp();
    const answer = await listFor(callerWith("todo:read"));
    expect(reports).toEqual([
      'the scopes of callers: nothing is listed for a caller with the scopes "todo:read": the entries require ' +
        '"secret-project", "tasks:read", "tasks:write"; grant these, or change "scopes" of the entries (reported once)',
    ]);
    expect(answer).toContain(String.raw`\"tools\":[]`);
    expect(answer).not.toMatch(/secret-project|tasks:|scope/);
  });

  it("reports each set of scopes once, in any order and for any list", async () => {
    openApp();
    await listFor(callerWith("todo:read", "todo:write"));
    await listFor(callerWith("todo:write", "todo:read"), "resources/list");
    await listFor(callerWith());
    expect(reports).toHaveLength(2);
    expect(reports[1]).toContain("nothing is listed for a caller with no scopes: ");
  });

  it("reports at most 32 sets, each in a bounded line without control characters", async () => {
    openApp();
    for (let index = 0; index < 100; index += 1) await listFor(callerWith(`${index}\n${"x".repeat(10_000)}`));
    expect(reports).toHaveLength(32);
    for (const line of reports) {
      expect(line).not.toContain("\n");
      expect(line.length).toBeLessThan(700);
    }
  });

  it.each([
    ["an anonymous caller", anonymous],
    ["a caller who sees some entries", callerWith("tasks:read")],
    ["a caller who has one of several required scopes", callerWith("secret-project")],
  ])("does not report %s", async (_who, caller) => {
    openApp();
    await listFor(caller);
    expect(reports).toEqual([]);
  });
});
