import type { StandardSchemaV1 } from "@standard-schema/spec";
import { anonymous } from "../../src/surface/caller.ts";
import { describe, expect, it, vi } from "vitest";
import { kDefinition } from "../../src/builder/app-definition.ts";
import { assembleApp } from "../../src/builder/assemble-app.ts";
import { mcp } from "../../src/builder/mcp.ts";
import { operationRegistry } from "../../src/catalog/mounts/operation-registry.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { counter, countingHandlers, deadLink } from "./support.ts";
import { instructionsFor } from "../fixtures/handlers-of.ts";

const validator: StandardSchemaV1 = { "~standard": { version: 1, vendor: "x", validate: (value) => ({ value }) } };

describe("an open app", () => {
  it("takes its name from the surface by default", async () => {
    const runtime = mcp(counter).bridge(deadLink()).open();
    expect(runtime.info).toEqual({ name: "counter", version: "0.0.0" });
    expect(instructionsFor(runtime, anonymous)).toBeUndefined();
    await runtime.close();
  });

  it("takes its name from the options", async () => {
    const options = { name: "server", version: "1.2.3", title: "A server", instructions: "Use it" };
    const runtime = mcp(counter, options).bridge(deadLink()).open();
    expect(runtime.info).toEqual({ name: "server", version: "1.2.3", title: "A server" });
    expect(instructionsFor(runtime, anonymous)).toBe("Use it");
    await runtime.close();
  });

  it.each([
    [{}, "surface://counter/value"],
    [{ uriPrefix: "odu://" }, "odu://value"],
    [{ uriPrefix: "app://here/" }, "app://here/value"],
  ])("starts every URI as %j says", async (options, uri) => {
    const client = createTestClient(mcp(counter, options).implement(countingHandlers()));
    expect(await client.request("resources/list")).toMatchObject({ resources: [{ uri }] });
    expect(await client.request("resources/read", { uri })).toMatchObject({ contents: [{ uri, text: "0" }] });
    await client.close();
  });

  it("pages its lists when pageSize says so, and gives every name once", async () => {
    const app = mcp(counter, { pageSize: 2 })
      .bridge(deadLink())
      .expose({ reset: "tool" })
      .tools({ a: { handler: () => 1 }, b: { handler: () => 1 }, c: { handler: () => 1 } });
    const client = createTestClient(app);
    const first = await client.request("tools/list");
    expect(first).toMatchObject({ tools: [{ name: "a" }, { name: "b" }] });
    expect(await client.request("tools/list", { cursor: first["nextCursor"] ?? "" })).toMatchObject({
      tools: [{ name: "c" }, { name: "count_bump" }],
    });
    expect(await client.toolNames()).toEqual(["a", "b", "c", "count_bump", "reset"]);
    await client.close();
  });

  it("reports the cause to onFault and a correlation id to the agent when a handler throws", async () => {
    const faults: Fault[] = [];
    const cause = new Error("the password is hunter2");
    const app = mcp(defineSurface("s", { run: mcpTool(procedure({})) }), { onFault: (fault) => faults.push(fault) })
      .implement({
        run: () => {
          throw cause;
        },
      })
      .tools({
        extra: {
          handler: () => {
            throw cause;
          },
        },
      });
    const client = createTestClient(app);
    for (const call of [client.tools.run, client.tools.extra]) {
      const answer = await call();
      expect(answer).toMatchObject({ isError: true, code: "INTERNAL" });
      expect(JSON.stringify(answer)).not.toContain("hunter2");
      const [fault] = faults.splice(0);
      expect(fault?.cause).toBe(cause);
      expect(JSON.stringify(answer)).toContain(fault?.correlationId ?? "nothing was reported");
    }
    await client.close();
  });

  it("warns the author when a name is long, and serves it", async () => {
    const warned = vi.spyOn(console, "error").mockReturnValue();
    const name = "a_name_that_is_just_one_character_too_long";
    const client = createTestClient(
      mcp(counter)
        .bridge(deadLink())
        .tools({ [name]: { handler: () => 1 } }),
    );
    expect(warned.mock.calls.flat().join("\n")).toContain(`the name "${name}"`);
    warned.mockRestore();
    expect(await client.toolNames()).toContain(name);
    await client.close();
  });

  it("finds the tool of a nested call by its wire name, too", async () => {
    const hub = operationRegistry([[{ name: "git.branch" }, () => "main"]]);
    const app = mcp(counter)
      .bridge(deadLink())
      .mount("hub", hub)
      .tools({
        outer: { canCall: ["hub_git_*"], handler: async (_args, { call }) => ({ got: await call("hub_git_branch") }) },
      });
    const client = createTestClient(app);
    const answer = await client.request("tools/call", { name: "outer", arguments: {} });
    expect(answer).toMatchObject({ structuredContent: { got: { value: "main" } } });
    await client.close();
  });

  it("closes its parts when a later step of opening fails", () => {
    // No JSON Schema can be made of a schema that is a validator and nothing else.
    const surface = defineSurface("s", { run: mcpTool(procedure({ input: validator })) });
    const live = implementSurface(surface, { run: () => 1 });
    const close = vi.fn<() => Promise<void>>(() => live.close());
    const app = mcp(surface).implement({ run: () => 1 });
    const backend = { kind: "implement", implement: () => ({ ...live, close }) } as const;
    const open = () => assembleApp({ ...app[kDefinition], backend });
    expect(open).toThrow(expect.objectContaining({ code: "SCHEMA_UNSUPPORTED" }));
    expect(open).toThrow(expect.objectContaining({ code: "SCHEMA_UNSUPPORTED" }));
    return expect.poll(() => close.mock.calls.length).toBe(2);
  });

  it("refuses to open over another live surface of the same name", async () => {
    const other = defineSurface("counter", { bump: procedure({}) });
    const live = implementSurface(other, { bump: () => 1 });
    const app = mcp(counter).bridge(inProcess(live));
    expect(() => app.open()).toThrow(expect.objectContaining({ code: "CONTRACT_MISMATCH" }));
    await live.close();
  });

  it("close() may be called twice, and aborts running calls", async () => {
    const aborted: unknown[] = [];
    const app = mcp(defineSurface("s", { run: mcpTool(procedure({})) }), { onFault: () => {} }).implement({
      run: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted.push(signal.reason);
            reject(new Error("aborted"));
          });
        }),
    });
    const client = createTestClient(app);
    const answer = client.tools.run();
    await expect.poll(() => client.toolNames()).toEqual(["run"]);
    await Promise.all([client.close(), client.close()]);
    expect(await answer).toMatchObject({ isError: true });
    expect(aborted).toHaveLength(1);
  });
});
