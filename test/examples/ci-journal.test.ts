import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";

import { createEngine } from "../../examples/ci/engine/engine.ts";
import type { Engine } from "../../examples/ci/engine/engine-types.ts";
import { openJournal } from "../../examples/ci/engine/journal.ts";
import type { JournalLine } from "../../examples/ci/engine/journal-line.ts";
import { birthOf, endOrphans } from "../../examples/ci/engine/process-group.ts";
import { replayJournal } from "../../examples/ci/engine/replay-journal.ts";
import type { Verdict } from "../../examples/ci/engine/verdict.ts";
import { eventually, nextVerdict, pipelineOf } from "./ci-support.ts";
import type { ScriptNode } from "./ci-support.ts";

let dir = "";
let path = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "ci-journal-"));
  path = join(dir, "journal.jsonl");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

type Nodes = Readonly<Record<string, ScriptNode>>;

const isOver = (engine: Engine): boolean => !engine.current.get().active;
const statuses = (engine: Engine): readonly string[] => engine.nodes.get().map(({ id, status }) => `${id}:${status}`);
/** Notes that it ran, and goes on when a file is there. */
const gated = (id: string, gate: string): ScriptNode => ({
  script: `fs.appendFileSync(${JSON.stringify(join(dir, "ran"))}, "${id} "); const gate = ${JSON.stringify(join(dir, gate))};
    const go = () => (fs.existsSync(gate) ? fs.readFileSync(gate, "utf8") : ""); setInterval(() => { if (go() !== "") process.exit(Number(go())) }, 5);`,
});

/** Runs a pipeline with a journal, and takes the journal away when asked: as a kill does, though the process lives on. */
function engineWith(nodes: Nodes, lines?: readonly JournalLine[]) {
  const journal = openJournal(path);
  const { memory, cut } = replayJournal(lines ?? journal.lines);
  const engine = createEngine(pipelineOf(nodes), { memory, record: journal.write, graceMs: 100 });
  const heard: Verdict[] = [];
  void (async () => {
    for await (const verdict of engine.verdicts(new AbortController().signal)) heard.push(verdict);
  })();
  const end = async (): Promise<void> => {
    journal.close();
    await engine.close();
  };
  onTestFinished(end);
  return { engine, memory, cut, heard, end };
}

describe("a journal", () => {
  it("makes the next engine go on where the last one was cut off: what passed is kept, what ran runs again", async () => {
    const nodes = { a: gated("a", "a"), b: gated("b", "b"), c: { needs: ["a", "b"], ...gated("c", "c") } };
    await writeFile(join(dir, "a"), "0");
    const first = engineWith(nodes);
    first.engine.start();
    await eventually(() => (statuses(first.engine)[0] === "a:passed" ? true : undefined));
    await eventually(async () => ((await readFile(join(dir, "ran"), "utf8")).includes("b") ? true : undefined));
    const before = first.engine.nodes.get();
    const log = first.engine.log("a");
    await first.end();

    const second = engineWith(nodes);
    expect(statuses(second.engine)).toEqual(["a:passed", "b:interrupted", "c:waiting"]);
    expect(second.engine.nodes.get()[0]).toEqual(before[0]);
    expect(second.engine.log("a")).toEqual(log);
    expect(second.engine.current.get()).toEqual({ run: 1, active: true, strict: false });
    expect(second.cut).toEqual([{ kind: "command", node: "b", group: expect.any(Number), born: expect.any(String) }]);
    expect(() => second.engine.start()).toThrow(expect.objectContaining({ code: "RUN_IN_PROGRESS" }));
    expect(second.engine.resume()).toEqual(["b"]);
    expect(second.engine.log("b").text).toMatch(/^\[ci\] interrupted.*\n\$ /);
    for (const gate of ["b", "c"]) await writeFile(join(dir, gate), "0");
    await eventually(() => (isOver(second.engine) ? true : undefined));
    expect((await readFile(join(dir, "ran"), "utf8")).trim().split(" ").toSorted()).toEqual(["a", "b", "b", "c"]);
    expect(second.engine.nodes.get().map(({ attempt, starts }) => [attempt, starts])).toEqual([
      [1, 1],
      [1, 2],
      [1, 1],
    ]);
    expect(second.heard).toEqual([expect.objectContaining({ run: 1, number: 1, at: "settled", verdict: "green" })]);
  });

  it("tells of a verdict once: what was announced before the end is remembered, and not announced again", async () => {
    const nodes = { bad: { script: "process.exit(3)" }, slow: gated("slow", "slow") };
    const first = engineWith(nodes);
    const red = nextVerdict(first.engine, "first-red");
    first.engine.start();
    await red;
    await first.end();
    const second = engineWith(nodes);
    expect(second.memory.verdicts).toEqual([expect.objectContaining({ at: "first-red", number: 1, red: ["bad"] })]);
    await writeFile(join(dir, "slow"), "0");
    second.engine.resume();
    await eventually(() => (isOver(second.engine) ? true : undefined));
    expect(second.heard).toEqual([expect.objectContaining({ at: "settled", number: 2, red: ["bad"] })]);
    await second.end();

    const third = engineWith(nodes);
    expect(third.memory).toMatchObject({ run: 1, verdicts: [{ number: 1 }, { number: 2 }] });
    expect(third.engine.resume()).toEqual([]);
    expect(isOver(third.engine)).toBe(true);
  });

  it("says what its engine came no more to say: a red node and the end of the run", () => {
    const node = { id: "a", needs: [], attempt: 1, starts: 1 };
    const lines: readonly JournalLine[] = [
      { kind: "begun", run: 4, strict: true, at: Date.now(), states: [{ ...node, status: "waiting", starts: 0 }] },
      { kind: "states", states: [{ ...node, status: "running" }] },
      { kind: "states", states: [{ ...node, status: "failed", exitCode: 1 }] },
    ];
    const { engine, heard } = engineWith({ a: {} }, lines);
    engine.resume();
    return eventually(() => (heard.length === 2 ? heard : undefined)).then((verdicts) =>
      expect(verdicts).toEqual([
        expect.objectContaining({ run: 4, number: 1, at: "first-red", red: ["a"] }),
        expect.objectContaining({ run: 4, number: 2, at: "settled", red: ["a"] }),
      ]),
    );
  });

  it("keeps the log of a red node, how many may run at once, and forgets the attempt before a rerun", async () => {
    const nodes = { bad: { script: "console.log('why'); process.exit(3)" } };
    const first = engineWith(nodes);
    first.engine.configure({ parallel: 7 });
    const settled = nextVerdict(first.engine, "settled");
    first.engine.start();
    await settled;
    await first.end();
    const second = engineWith(nodes);
    expect(second.engine.log("bad").text).toMatch(/\nwhy\n$/);
    expect(second.memory.parallel).toBe(7);
    second.engine.rerun("bad");
    await second.end();
    const third = engineWith(nodes);
    expect(statuses(third.engine)).toEqual(["bad:interrupted"]);
    expect([third.engine.log("bad").text, third.engine.nodes.get()[0]?.attempt]).toEqual(["", 2]);
  });

  it("passes over a last line without its end, cuts it off, and goes on behind it", async () => {
    const whole = `${JSON.stringify({ kind: "configured", parallel: 3 })}\n`;
    await writeFile(path, `${whole}{"kind":"config`);
    const journal = openJournal(path);
    expect(journal.lines).toEqual([{ kind: "configured", parallel: 3 }]);
    journal.write({ kind: "configured", parallel: 4 });
    journal.close();
    journal.close();
    journal.write({ kind: "configured", parallel: 5 });
    expect(await readFile(path, "utf8")).toBe(whole + whole.replace("3", "4"));
  });

  it.each([
    ["text", "hello\n"],
    ["a kind that there is not", '{"kind":"toString"}\n'],
    ["a number for a state", '{"kind":"states","states":[1]}\n'],
  ])("is refused with INVALID_JOURNAL when one of its whole lines is %s", async (_what, line) => {
    await writeFile(path, `{"kind":"configured","parallel":3}\n${line}`);
    await appendFile(path, '{"kind":"configured","parallel":3}\n');
    const refusal = { code: "INVALID_JOURNAL", message: expect.stringContaining("line 2 is not one") };
    expect(() => openJournal(path)).toThrow(expect.objectContaining(refusal));
  });
});

describe.runIf(process.platform === "linux")("endOrphans()", () => {
  it("leaves a process alone that was born at another time, and does not wait for it", async () => {
    const { engine } = engineWith({ a: { script: "setInterval(() => {}, 1000)" } });
    engine.start();
    const { group } = await eventually(() => openJournal(path).lines.find((line) => line.kind === "command"));
    expect(await endOrphans(group, "1", 60_000)).toBe(false);
    expect(birthOf(group)).toEqual(expect.any(String));
    expect(await endOrphans(group, birthOf(group), 0)).toBe(true);
    expect(await endOrphans(group, "1", 60_000)).toBe(false);
    await eventually(() => (isOver(engine) ? true : undefined));
    expect(engine.nodes.get()[0]?.status).toBe("failed");
  });
});
