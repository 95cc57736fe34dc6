import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { implementSurface, inProcess } from "surface-mcp";
import type { MutatingToolNames, ResourceNames, ToolNames } from "surface-mcp";
import { createTestClient } from "surface-mcp/testing";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";

import { parseCompilerErrors } from "../../examples/ci/engine/compiler-errors.ts";
import { createEngine } from "../../examples/ci/engine/engine.ts";
import { fillPlaceholders } from "../../examples/ci/engine/placeholders.ts";
import { prepareScratch } from "../../examples/ci/engine/scratch.ts";
import { createPipelineApp } from "../../examples/ci/pipeline-app.ts";
import { createPipelineHandlers } from "../../examples/ci/pipeline-handlers.ts";
import { Started } from "../../examples/ci/pipeline-schemas.ts";
import { pipeline as surface } from "../../examples/ci/pipeline-surface.ts";
import { nextVerdict, pipelineOf } from "./ci-support.ts";
import type { ScriptNode } from "./ci-support.ts";

type App = ReturnType<typeof createPipelineApp>;

const COMPLAINT =
  "src/basket.ts(10,62): error TS2551: Property 'cuont' does not exist on type 'BasketLine'. Did you mean 'count'?";
const FAILING: ScriptNode = { script: `console.log(${JSON.stringify(COMPLAINT)}); process.exit(1)` };

async function faceOf(nodes: Readonly<Record<string, ScriptNode>>) {
  const scratch = await prepareScratch();
  const pipeline = fillPlaceholders(pipelineOf(nodes), { scratch: scratch.dir });
  const engine = createEngine(pipeline);
  const live = implementSurface(surface, createPipelineHandlers({ pipeline, engine, scratch: scratch.dir }));
  const client = createTestClient(createPipelineApp(inProcess(live)));
  onTestFinished(async () => {
    await client.close();
    await live.close();
    await engine.close();
    await scratch.dispose();
  });
  return { client, engine, live, dir: scratch.dir };
}

function complaintFor(node: string): Parameters<Awaited<ReturnType<typeof faceOf>>["client"]["tools"]["fix"]>[0] {
  const [error] = parseCompilerErrors(COMPLAINT);
  if (!error) throw new Error("the complaint does not parse");
  const { suggestion: _suggestion, ...rest } = error;
  return { node, ...rest };
}

describe("createPipelineApp()", () => {
  it("exposes the tagged members, the bespoke tool and the tools to wait with, by type and on the wire", async () => {
    expectTypeOf<ToolNames<App>>().toEqualTypeOf<
      "settled" | "node_rerun" | "node_show" | "run" | "fix" | "read_resource" | "wait_for_change"
    >();
    expectTypeOf<ResourceNames<App>>().toEqualTypeOf<"nodes" | "current" | "log">();
    expectTypeOf<MutatingToolNames<App>>().toEqualTypeOf<"node_rerun" | "run" | "fix">();
    const { client } = await faceOf({ a: {} });
    expect(await client.toolNames()).toEqual([
      "fix",
      "node_rerun",
      "node_show",
      "read_resource",
      "run",
      "settled",
      "wait_for_change",
    ]);
    const listed = JSON.stringify([
      await client.request("tools/list"),
      await client.request("resources/list"),
      await client.request("resources/templates/list"),
    ]);
    expect(listed).not.toMatch(/configure|run[._]start/);
    for (const name of ["run_configure", "run_start"]) {
      const knock = client.request("tools/call", { name, arguments: { parallel: 32, strict: true } });
      await expect(knock).rejects.toMatchObject({ code: -32602, message: "Invalid params: there is no such tool" });
    }
  });

  it("gives run a cursor from which no verdict of the run is missed, and none of the run before is seen", async () => {
    const { client, engine } = await faceOf({ a: {} });
    const first = nextVerdict(engine, "settled");
    await client.tools.run({});
    await first;
    const second = nextVerdict(engine, "settled");
    const started = await client.tools.run({ strict: false });
    await second;
    if (started.isError) throw new Error(started.text);
    const { run, since } = Started.parse(started.structured);
    expect(run).toBe(2);
    const wait = await client.tools.settled({ since, timeout_ms: 20_000 });
    expect(wait).toMatchObject({ structured: { status: "fired", occurrence: { run: 2, verdict: "green" } } });
  });

  it("answers the engine's no as a refusal with its code and words", async () => {
    const { client, engine } = await faceOf({ a: { script: "setInterval(() => {}, 1000)" } });
    expect(await client.tools.node_rerun({ node: "a" })).toMatchObject({ isError: true, code: "NO_RUN" });
    await client.tools.run({});
    expect(await client.tools.run({})).toMatchObject({ code: "RUN_IN_PROGRESS" });
    expect(await client.tools.node_rerun({ node: "b" })).toMatchObject({ code: "UNKNOWN_NODE" });
    expect(await client.tools.node_show({ node: "b" })).toMatchObject({ code: "UNKNOWN_NODE" });
    expect(await client.tools.node_show({ node: "a" })).toMatchObject({ structured: { id: "a", status: "running" } });
    await expect(client.read("log", { node: "b" })).rejects.toThrow(/^UNKNOWN_NODE: .*"b"/);
    await engine.cancel();
  });

  it("fixes what the log of a scratch node says, once", async () => {
    const { client, engine, dir } = await faceOf({ scratch: { ...FAILING, cwd: "{scratch}" } });
    const settled = nextVerdict(engine, "settled");
    await client.tools.run({});
    await settled;
    const fixed = await client.tools.fix(complaintFor("scratch"));
    expect(fixed).toMatchObject({ structured: { file: "src/basket.ts", line: 10, from: "cuont", to: "count" } });
    expect(await readFile(join(dir, "src/basket.ts"), "utf8")).not.toContain("cuont");
    expect(await client.tools.fix(complaintFor("scratch"))).toMatchObject({ code: "NOT_REPAIRABLE" });
  });

  it("refuses to fix what the log does not say, what is outside the scratch copy, and what is no node", async () => {
    const { client, engine, dir } = await faceOf({ scratch: { cwd: "{scratch}" }, other: FAILING });
    const settled = nextVerdict(engine, "settled");
    await client.tools.run({ strict: false });
    await settled;
    expect(await client.tools.fix(complaintFor("scratch"))).toMatchObject({ code: "NOT_REPAIRABLE" });
    expect(await client.tools.fix(complaintFor("other"))).toMatchObject({ code: "OUTSIDE_SCRATCH" });
    expect(await client.tools.fix(complaintFor("nobody"))).toMatchObject({ code: "UNKNOWN_NODE" });
    expect(await readFile(join(dir, "src/basket.ts"), "utf8")).toContain("cuont");
  });
});

describe("createPipelineHandlers()", () => {
  it("configures runs for a client of the surface, which is no agent", async () => {
    const { engine, live } = await faceOf({ a: { script: "setTimeout(() => {}, 50)" }, b: {} });
    const { client } = await inProcess(live).connect(surface);
    expect(await client["run.configure"].call({ parallel: 1 })).toEqual({ parallel: 1 });
    const settled = nextVerdict(engine, "settled");
    engine.start();
    expect((await client.nodes.get()).map(({ status }) => status)).toEqual(["running", "waiting"]);
    await settled;
    await expect(client["run.configure"].call({ parallel: 0 })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});
