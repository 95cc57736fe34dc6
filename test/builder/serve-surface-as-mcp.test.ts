import { anonymous } from "../../src/surface/caller.ts";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { serveSurfaceAsMcp } from "../../src/builder/serve-surface-as-mcp.ts";
import { CallContext } from "../../src/call/call-context.ts";
import { operationRegistry } from "../../src/catalog/mounts/operation-registry.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { HandledMethod } from "../../src/mcp/handlers.ts";
import type { RpcAnswer } from "../../src/mcp/protocol.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { cast } from "../tags/support.ts";
import { counter, countingHandlers, holdingTarget } from "./support.ts";
import { handlersOf, instructionsFor } from "../fixtures/handlers-of.ts";

const live = implementSurface(counter, countingHandlers());
const link = inProcess(live);
const opened: AppRuntime[] = [];
const lists: readonly HandledMethod[] = ["tools/list", "resources/list", "resources/templates/list"];
const tools = {
  extra: { input: z.object({ a: z.string() }), mutates: false, handler: ({ a }: { a: string }) => a },
} as const;

afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.close();
});

async function answers(runtime: AppRuntime): Promise<unknown> {
  opened.push(runtime);
  const { info } = runtime;
  const instructions = instructionsFor(runtime, anonymous);
  const ask = async (method: HandledMethod): Promise<RpcAnswer | undefined> =>
    handlersOf(runtime)[method]?.(undefined, { era: "modern", call: new CallContext() });
  return { info, instructions, lists: await Promise.all(lists.map(ask)) };
}

async function servedBy(serve: (target: ReturnType<typeof holdingTarget>) => Promise<unknown>): Promise<AppRuntime> {
  const target = holdingTarget();
  await serve(target);
  const [runtime] = target.served;
  if (runtime === undefined) throw new Error("nothing was served");
  return runtime;
}

describe("serveSurfaceAsMcp()", () => {
  it("serveSurfaceAsMcp() serves the same app as the chain with all options", async () => {
    const options = { name: "server", version: "2.0.0", instructions: "Use it", uriPrefix: "app://" };
    const inOneCall = await servedBy((target) =>
      serveSurfaceAsMcp({
        surface: counter,
        link,
        target,
        expose: { reset: "tool", log: "resource" },
        tools,
        ...options,
      }),
    );
    const byChain = await servedBy((target) =>
      mcp(counter, options).bridge(link).expose({ reset: "tool", log: "resource" }).tools(tools).serve(target),
    );
    expect(await answers(inOneCall)).toEqual(await answers(byChain));
  });

  it("serveSurfaceAsMcp() serves tagged members with only a surface and a link", async () => {
    const bare = await servedBy((target) => serveSurfaceAsMcp({ surface: counter, link, target }));
    const chain = await servedBy((target) => mcp(counter).bridge(link).serve(target));
    expect(await answers(bare)).toEqual(await answers(chain));
  });

  it.each([
    [{ mounts: { ops: operationRegistry() } }, "INVALID_OPTION"],
    [{ expose: { nope: "tool" } }, "UNKNOWN_MEMBER"],
    [{ expose: { "count.bump": "tool" } }, "ALREADY_EXPOSED"],
    [{ expose: { value: "tool" } }, "ALREADY_EXPOSED"],
    [{ expose: { reset: "resource" } }, "WRONG_KIND"],
    [{ tools: { count_bump: { handler: () => 1 } } }, "NAME_COLLISION"],
    [{ expose: { reset: "tool" }, tools: { reset: { handler: () => 1 } } }, "NAME_COLLISION"],
    [{ tools: { extra: {} } }, "MISSING_HANDLER"],
    [{ link: undefined }, "INVALID_OPTION"],
  ])("serveSurfaceAsMcp() rejects %j with %s before anything is served", async (more, code) => {
    const target = holdingTarget();
    await expect(cast(serveSurfaceAsMcp, { surface: counter, link, target, ...more })).rejects.toMatchObject({ code });
    expect(target.served).toEqual([]);
  });
});
