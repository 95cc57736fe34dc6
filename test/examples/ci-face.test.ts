import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { implementSurface, inProcess, listenUnixSocket } from "surface-mcp";
import type { JsonObject, MutatingToolNames, ResourceNames, ToolNames } from "surface-mcp";
import { createTestClient } from "surface-mcp/testing";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { z } from "zod";

import { AgentBoard, AgentLog, Started } from "../../examples/ci/agent-schemas.ts";
import { createBoardSource } from "../../examples/ci/board-source.ts";
import { parseCompilerErrors } from "../../examples/ci/engine/compiler-errors.ts";
import { createNovelty } from "../../examples/ci/create-novelty.ts";
import { createEngine } from "../../examples/ci/engine/engine.ts";
import { LOG_BYTES } from "../../examples/ci/engine/log-tail.ts";
import { fillPlaceholders } from "../../examples/ci/engine/placeholders.ts";
import { openRunFiles } from "../../examples/ci/engine/run-files.ts";
import { prepareScratch } from "../../examples/ci/engine/scratch.ts";
import { createFace } from "../../examples/ci/mcp.ts";
import { createPipelineHandlers } from "../../examples/ci/pipeline-handlers.ts";
import { pipeline as surface } from "../../examples/ci/pipeline-surface.ts";
import { runsIn, socketIn } from "../../examples/ci/state-dir.ts";
import { eventually, nextVerdict, pipelineOf, rigOf, removeFolder } from "./ci-support.ts";
import type { ScriptNode } from "./ci-support.ts";

type App = ReturnType<typeof createFace>;

const COMPLAINT =
  "src/basket.ts(10,62): error TS2551: Property 'cuont' does not exist on type 'BasketLine'. Did you mean 'count'?";
const FAILING: ScriptNode = { script: `console.log(${JSON.stringify(COMPLAINT)}); process.exit(1)` };

/** A path that leads out, in spellings that something on the way might read. */
const climbing = [
  "../secret",
  "..",
  "%2e%2e",
  "..%2Fsecret",
  "..%2fsecret",
  "%2e%2e%2fsecret",
  "..%5Csecret",
  "..%252Fsecret",
  "%252e%252e%252fsecret",
  "..%c0%afsecret",
  "..%00",
  "a%00",
  "a%2F..%2F..%2Fsecret",
  "%uff0e%uff0e",
];
/** What climbs nowhere, and is no id of a node either. */
const odd = [
  "%2Fetc%2Fpasswd",
  "..;%2Fsecret",
  "%E2%80%AE..",
  "．．／secret",
  "a.log",
  "A",
  "__proto__",
  "a".repeat(65),
];

async function stateDir(): Promise<string> {
  const state = await mkdtemp(join(tmpdir(), "ci-face-"));
  onTestFinished(() => removeFolder(state));
  return state;
}

/** A face over a state directory; whoever listens there is its coordinator. */
function faceAt(state: string) {
  const client = createTestClient(createFace({ state, pipeline: "/nowhere", tied: true, temporary: false }));
  onTestFinished(() => client.close());
  return client;
}

/** A face, and a coordinator in this process, which it reaches over a real socket. */
async function faceOf(nodes: Readonly<Record<string, ScriptNode>>) {
  const scratch = await prepareScratch();
  const state = await stateDir();
  const pipeline = fillPlaceholders(pipelineOf(nodes), { scratch: scratch.dir });
  const engine = createEngine(pipeline, { files: openRunFiles(runsIn(state)) });
  const live = implementSurface(surface, createPipelineHandlers({ pipeline, engine, scratch: scratch.dir }));
  const listening = await listenUnixSocket(live, socketIn(state));
  const leave = async (): Promise<void> => {
    await listening.close();
    await live.close();
  };
  onTestFinished(async () => {
    await leave();
    await engine.close();
    await scratch.dispose();
  });
  return { client: faceAt(state), engine, live, state, dir: scratch.dir, leave };
}

function complaintFor(node: string): Parameters<Awaited<ReturnType<typeof faceOf>>["client"]["tools"]["fix"]>[0] {
  const [error] = parseCompilerErrors(COMPLAINT);
  if (!error) throw new Error("the complaint does not parse");
  const { suggestion: _suggestion, ...rest } = error;
  return { node, ...rest };
}

describe("createFace()", () => {
  it("exposes the tagged members, the bespoke tool and the tools to wait with, by type and on the wire", async () => {
    expectTypeOf<ToolNames<App>>().toEqualTypeOf<
      "settled" | "node_rerun" | "node_show" | "run" | "fix" | "read_resource" | "wait_for_change"
    >();
    expectTypeOf<ResourceNames<App>>().toEqualTypeOf<"nodes" | "log">();
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
    const lists = [await client.request("resources/list"), await client.request("resources/templates/list")];
    const uris = [...JSON.stringify(lists).matchAll(/"uri(?:Template)?":"([^"]*)"/g)].map(([, uri]) => uri);
    expect(uris).toEqual(["surface://agent/nodes", "surface://agent/log/{node}"]);
  });

  it("is one declaration of at most 40 lines", async () => {
    const entry = await readFile(fileURLToPath(new URL("../../examples/ci/mcp.ts", import.meta.url)), "utf8");
    expect(entry.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
  });

  it.each(["run.configure", "run_configure", "run.start", "run_start", "current"])(
    "answers %s by any method as what never existed",
    async (name) => {
      const { client } = await faceOf({ a: {} });
      const nobody = "no_such_name".slice(0, name.length).padEnd(name.length, "x");
      const knock = (method: Parameters<typeof client.request>[0], params: JsonObject): Promise<unknown> =>
        client
          .request(method, params)
          .catch(({ code, message, data }: Record<string, unknown>) => ({ code, message, data }));
      const answersTo = async (called: string): Promise<string> => {
        const uri = `surface://agent/${called}`;
        const answers = [
          await knock("tools/call", { name: called, arguments: { parallel: 32, strict: true } }),
          await knock("resources/read", { uri }),
          await knock("prompts/get", { name: called }),
          await knock("completion/complete", {
            ref: { type: "ref/prompt", name: called },
            argument: { name: "a", value: "" },
          }),
          await knock("completion/complete", {
            ref: { type: "ref/resource", uri },
            argument: { name: "a", value: "" },
          }),
        ];
        return JSON.stringify(answers).replaceAll(called, "?");
      };
      expect(await answersTo(name)).toBe(await answersTo(nobody));
      const lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] as const;
      for (const list of lists)
        expect(JSON.stringify(await knock(list, {}))).not.toMatch(/configure|run[._]start|current/);
    },
  );

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

  it("gives run a cursor after the verdicts of runs before when it has been started after them", async () => {
    const { client, engine, state } = await faceOf({ a: {} });
    const first = nextVerdict(engine, "settled");
    await client.tools.run({});
    await first;
    const later = faceAt(state);
    const second = nextVerdict(engine, "settled");
    const started = await later.tools.run({ strict: false });
    await second;
    if (started.isError) throw new Error(started.text);
    const { since } = Started.parse(started.structured);
    const wait = await later.tools.settled({ since, timeout_ms: 20_000 });
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
    expect(AgentBoard.parse(await client.read("nodes"))).toMatchObject({ run: 1, active: true, red: false });
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

  it("says that a run is red as soon as one node of it is, and that of one run at a time", async () => {
    const { client, engine } = await faceOf({
      bad: { script: "process.exit(1)" },
      slow: { script: "setInterval(() => {}, 1000)" },
    });
    const red = nextVerdict(engine, "first-red");
    await client.tools.run({ strict: false });
    await red;
    const seen = AgentBoard.parse(await client.read("nodes"));
    expect(seen).toMatchObject({ run: 1, active: true, red: true });
    expect(seen.nodes.map(({ id, status }) => `${id}:${status}`)).toEqual(["bad:failed", "slow:running"]);
    await engine.cancel();
  });

  it("settles at the first red node with the name of its run, and again when the run has ended", async () => {
    const { client } = await faceOf({
      bad: { script: "process.exit(1)" },
      slow: { script: "setTimeout(() => {}, 2000)" },
      last: {},
    });
    const started = await client.tools.run({});
    if (started.isError) throw new Error(started.text);
    const { since } = Started.parse(started.structured);
    const first = await client.tools.settled({ since, timeout_ms: 20_000 });
    expect(first).toMatchObject({
      structured: { occurrence: { run: 1, verdict: "red", at: "first-red", red: ["bad"], skipped: 1 } },
    });
    const { cursor } = Cursor.parse(first.isError ? undefined : first.structured);
    const second = await client.tools.settled({ since: cursor, timeout_ms: 20_000 });
    expect(second).toMatchObject({ structured: { occurrence: { run: 1, verdict: "red", at: "settled", passed: 1 } } });
  });
});

const Cursor = z.object({ cursor: z.string() });

describe("the agent's log", () => {
  const loud = "process.stdout.write('first\\n' + 'é'.repeat(100_000) + '\\nlast\\n')";

  it("is the newest 64 KB while the coordinator answers, and after it is gone, and says which", async () => {
    const { client, engine, state, leave } = await faceOf({ loud: { script: loud }, quiet: {} });
    const settled = nextVerdict(engine, "settled");
    await client.tools.run({});
    await settled;
    const live = AgentLog.parse(await client.read("log", { node: "loud" }));
    expect(live).toMatchObject({ node: "loud", truncated: true, source: "live" });
    expect(Buffer.byteLength(live.text)).toBeLessThanOrEqual(LOG_BYTES);
    expect(live.text).toMatch(/^é+\nlast\n$/);
    await leave();
    // A face that has never seen the coordinator, beside the one that has.
    for (const face of [faceAt(state), client]) {
      const log = await eventually(async () => {
        const read = AgentLog.parse(await face.read("log", { node: "loud" }));
        return read.source === "file" ? read : undefined;
      });
      expect(log).toEqual({ ...live, source: "file" });
    }
    expect(await client.read("log", { node: "quiet" })).toMatchObject({ truncated: false, source: "file" });
  });

  it.each([
    ["path that leads out", climbing, "-32602 Resource not found"],
    ["text that is no id", odd, "-32602 There is nothing under this URI now"],
  ])("refuses each spelling of a %s in the same words", async (_what, spellings, words) => {
    const { client, state } = await faceOf({ a: {} });
    await writeFile(join(state, "secret.log"), "secret");
    for (const spelling of spellings) {
      const refusal = await client.request("resources/read", { uri: `surface://agent/log/${spelling}` }).then(
        (answer) => JSON.stringify(answer),
        ({ code, message }: Record<string, unknown>) => `${String(code)} ${String(message)}`,
      );
      expect([spelling, refusal]).toEqual([spelling, words]);
    }
  });
});

describe("a face where nobody runs the pipeline", () => {
  it("answers no read with a value that nobody has given, and says that it cannot be reached", async () => {
    const client = faceAt(await stateDir());
    const reads = await Promise.allSettled([
      client.read("nodes"),
      client.read("log", { node: "a" }),
      client.tools
        .node_show({ node: "a" })
        .then((answer) => (answer.isError ? Promise.reject(new Error(answer.text)) : answer)),
    ]);
    expect(reads.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(String(reads.map((read) => (read.status === "rejected" ? String(read.reason) : "")))).toMatch(
      /UNAVAILABLE[^]*UNAVAILABLE[^]*UNAVAILABLE/,
    );
  });

  it("answers a read that was waiting when the coordinator came", async () => {
    const state = await stateDir();
    const read = faceAt(state).read("nodes");
    const engine = createEngine(pipelineOf({ a: {} }));
    const live = implementSurface(
      surface,
      createPipelineHandlers({ pipeline: pipelineOf({ a: {} }), engine, scratch: undefined }),
    );
    const listening = await listenUnixSocket(live, socketIn(state));
    onTestFinished(async () => {
      await listening.close();
      await live.close();
      await engine.close();
    });
    expect(await read).toMatchObject({ run: 0, active: false, red: false, nodes: [{ id: "a", status: "idle" }] });
  });

  it("says that a coordinator did not come up", async () => {
    const answer = await faceAt(await stateDir()).tools.run({});
    expect(answer).toMatchObject({ isError: true, code: "COORDINATOR_FAILED" });
    expect(answer.text).not.toContain("nowhere");
  });
});

describe("createNovelty()", () => {
  const verdict = { run: 1, number: 1, verdict: "red", red: ["a"], at: "first-red" } as const;
  const counts = { passed: 0, failed: 1, skipped: 0, cancelled: 0, durationMs: 5 };

  it("lets what a coordinator tells again pass once, and what is new each time", () => {
    const isNew = createNovelty();
    const first = { ...verdict, ...counts };
    expect([first, first, { ...first, number: 2 }, { ...first }].map(isNew)).toEqual([true, false, true, false]);
    expect([{ ...first, run: 2 }, first].map(isNew)).toEqual([true, true]);
    expect(isNew({ ...first, durationMs: 6 })).toBe(true);
  });
});

describe("createPipelineHandlers()", () => {
  it("configures runs for a client of the surface, which is no agent", async () => {
    const { engine, live } = await faceOf({ a: { script: "setTimeout(() => {}, 50)" }, b: {} });
    const { client } = await inProcess(live).connect(surface);
    expect(await client["run.configure"].call({ parallel: 1 })).toEqual({ parallel: 1 });
    const settled = nextVerdict(engine, "settled");
    engine.start();
    const { run, nodes } = await client.nodes.get();
    expect([run, ...nodes.map(({ status }) => status)]).toEqual([1, "running", "waiting"]);
    await settled;
    await expect(client["run.configure"].call({ parallel: 0 })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

describe("createBoardSource()", () => {
  it("tells of no moment at which the nodes of one run stand beside the number of another, nor after its end", async () => {
    const { engine, settled } = rigOf({ a: {} });
    const source = createBoardSource(engine);
    const told: string[] = [];
    const stop = source.subscribe(({ run, active, nodes }) => {
      told.push(`${run} ${active} ${nodes.map(({ status }) => status).join()}`);
    });
    const first = settled();
    engine.start();
    await first;
    await nextTurn();
    expect(told).toEqual(["1 true running", "1 false passed"]);
    expect(source.get()).toBe(source.get());
    const second = settled();
    engine.start();
    stop();
    await second;
    expect(told).toHaveLength(2);
  });
});
