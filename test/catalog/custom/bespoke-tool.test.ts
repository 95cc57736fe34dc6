import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { CallContext } from "../../../src/call/call-context.ts";
import type { AnyBespokeTool } from "../../../src/catalog/custom/bespoke-tool.ts";
import type { ToolContext } from "../../../src/catalog/context/tool-context.ts";
import type { ProgressReport } from "../../../src/catalog/entry.ts";
import { mcp } from "../../../src/builder/mcp.ts";
import { inProcess } from "../../../src/links/in-process.ts";
import type { Link } from "../../../src/links/link.ts";
import { createTestClient } from "../../../src/testing/index.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { procedure } from "../../../src/surface/define-members.ts";
import { catalogOf, thrownBy } from "../support.ts";

const handler = (): string => "done";

function bespoke(name: string, tool: AnyBespokeTool) {
  return catalogOf({}, { tools: { [name]: tool } }).tools[0];
}

describe("toBespokeEntry()", () => {
  it("toBespokeEntry() keeps words, deadline and hints when they are given, and has defaults", () => {
    const words = { title: "T", description: "D", timeoutMs: 5, mutates: false, openWorld: true };
    expect(bespoke("a.b", { ...words, handler })).toMatchObject({
      id: "a.b",
      name: "a_b",
      origin: 'tool "a.b"',
      title: "T",
      description: "D",
      timeoutMs: 5,
      hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    });
    expect(bespoke("plain", { handler })).toMatchObject({
      timeoutMs: 60_000,
      hints: { readOnlyHint: false, destructiveHint: true },
      input: { json: { type: "object", additionalProperties: false } },
      output: { json: undefined },
    });
  });

  it("toBespokeEntry() takes a dash in a name only where its author allows it", () => {
    expect(thrownBy(() => bespoke("a-b", { handler }))).toMatchObject({ code: "INVALID_NAME" });
    expect(bespoke("a-b", { handler, allowDash: true })?.name).toBe("a-b");
  });

  it.each<[string, object, string]>([
    ["an unknown option", { handler, timeout: 5 }, "INVALID_OPTION"],
    ["a hint that is no boolean", { handler, mutates: "no" }, "INVALID_OPTION"],
    ["a deadline out of range", { handler, timeoutMs: 600_001 }, "INVALID_OPTION"],
    ["a deadline that is no number", { handler, timeoutMs: Number.NaN }, "INVALID_OPTION"],
    ["a contradiction", { handler, mutates: false, destructive: true }, "CONTRADICTION"],
    ["no handler", {}, "MISSING_HANDLER"],
    ["a handler that is no function", { handler: "run" }, "MISSING_HANDLER"],
    ["an input that is no schema", { handler, input: { type: "object" } }, "INVALID_OPTION"],
    ["an output that is no schema", { handler, output: "string" }, "INVALID_OPTION"],
  ])("toBespokeEntry() refuses %s, naming the tool", (...row) => {
    const [, tool, code] = row;
    // For authors who cast.
    expect(thrownBy(() => bespoke("probe", tool as AnyBespokeTool))).toMatchObject({
      code,
      message: expect.stringContaining("probe"),
    });
  });

  it("run() gives a handler what it may take apart: progress and signal work out of the context", async () => {
    const reports: ProgressReport[] = [];
    const call = new CallContext({ sink: (report) => reports.push(report) });
    let seen: AbortSignal | undefined;
    const tool = bespoke("probe", {
      handler: (_args, { progress, signal }) => {
        progress({ progress: 1, message: "begun" });
        seen = signal;
      },
    });
    await tool?.run(undefined, call);
    expect(reports).toEqual([{ progress: 1, message: "begun" }]);
    expect(seen).toBe(call.signal);
  });

  it("run() makes no signal unless the handler asks for one", async () => {
    const call = new CallContext();
    const asked = vi.spyOn(call, "signal", "get");
    await bespoke("probe", { handler: (_args, { progress }) => progress({ progress: 1 }) })?.run(undefined, call);
    expect(asked).not.toHaveBeenCalled();
  });

  it("run() calls the handler as the method that it is", () => {
    const tool = {
      greeting: "hello",
      handler(): string {
        return this.greeting;
      },
    };
    expect(thrownBy(() => bespoke("probe", tool))).toMatchObject({ code: "INVALID_OPTION" });
    class Tool {
      readonly #greeting = "hello";
      handler(): string {
        return this.#greeting;
      }
    }
    expect(bespoke("probe", new Tool())?.run(undefined, new CallContext())).toBe("hello");
  });
});

describe("a bespoke tool's client", () => {
  const surface = defineSurface("back", { add: procedure({ input: z.int(), output: z.int() }) });

  function counted(down: boolean): { readonly link: Link; readonly dials: () => number } {
    const live = inProcess(implementSurface(surface, { add: (n) => n + 1 }));
    let dials = 0;
    const link: Link = {
      connect: (asked, options) => {
        dials += 1;
        return down ? Promise.reject(new TypeError("secret address")) : live.connect(asked, options);
      },
    };
    return { link, dials: () => dials };
  }

  it("client reaches members that no agent can, and connects on first use", async () => {
    const { link, dials } = counted(false);
    const app = mcp(surface)
      .bridge(link)
      .tools({
        plain: { handler: () => "no backend" },
        twice: {
          input: z.object({ n: z.int() }),
          output: z.int(),
          handler: async ({ n }, { client }) => client.add.call(await client.add.call(n)),
        },
      });
    const agent = createTestClient(app);
    expect(await agent.tools.plain({})).toMatchObject({ isError: false });
    expect(dials()).toBe(0);
    expect(await agent.tools.twice({ n: 1 })).toMatchObject({ structured: { value: 3 } });
    expect(dials()).toBe(1);
    expect(await agent.toolNames()).toEqual(["plain", "twice"]);
    await agent.close();
  });

  it("a tool that needs no backend works while it is down, and one that does says nothing of it", async () => {
    const { link } = counted(true);
    const app = mcp(surface, { onFault: () => {} })
      .bridge(link)
      .tools({
        plain: { handler: () => "fine" },
        needs: { handler: (_args, context: ToolContext<typeof surface.members>) => context.client.add.call(1) },
      });
    const agent = createTestClient(app);
    expect(await agent.tools.plain({})).toMatchObject({ isError: false });
    const answer = await agent.tools.needs({});
    expect(answer).toMatchObject({ isError: true, code: "UNAVAILABLE" });
    expect(JSON.stringify(answer)).not.toContain("secret");
    await agent.close();
  });
});
