import { describe, expect, it } from "vitest";

import { callOnce } from "../../examples/ci/agent/call-once.ts";
import type { Answer } from "../../examples/ci/agent/mcp-session.ts";
import type { JournalLine } from "../../examples/ci/engine/journal-line.ts";
import { toRunHistory } from "../../examples/ci/stage/run-history.ts";

const UNKNOWN: Answer<string> = { ok: false, code: "OUTCOME_UNKNOWN", refusal: "OUTCOME_UNKNOWN: read the state" };
const done = (value: string): Answer<string> => ({ ok: true, value });

/** Calls once against a server that gives these answers, with a state that shows these effects. */
async function callWith(answers: readonly Answer<string>[], effects: readonly (string | undefined)[]) {
  const told: string[] = [];
  const [left, shown] = [[...answers], [...effects]];
  const answer = await callOnce<string>({
    call: () => {
      told.push("call");
      return Promise.resolve(left.shift() ?? done("too often"));
    },
    onUnknown: () => told.push("unknown"),
    effect: () => {
      told.push("read");
      return Promise.resolve(shown.shift());
    },
  });
  return { answer, told };
}

describe("callOnce()", () => {
  it("reads the state and calls no more when a call of unknown outcome has taken effect", async () => {
    const { answer, told } = await callWith([UNKNOWN], ["run 1"]);
    expect(answer).toEqual(done("run 1"));
    expect(told).toEqual(["call", "unknown", "read"]);
  });

  it("calls again when the state shows that nothing has happened, and gives up in the end", async () => {
    expect((await callWith([UNKNOWN, done("run 1")], [undefined])).told).toEqual(["call", "unknown", "read", "call"]);
    expect((await callWith([UNKNOWN, UNKNOWN, UNKNOWN], [])).answer).toBe(UNKNOWN);
  });

  it("takes every other refusal for an answer", async () => {
    const refused: Answer<string> = { ok: false, code: "RUN_IN_PROGRESS", refusal: "RUN_IN_PROGRESS: no" };
    expect(await callWith([refused], ["never read"])).toEqual({ answer: refused, told: ["call"] });
  });
});

describe("toRunHistory()", () => {
  const node = { id: "a", needs: [], attempt: 1, starts: 0 };
  const opened: JournalLine = { kind: "opened", pid: 1, at: 0, pipeline: "p" };
  const begun = (run: number, attempt: number, starts: number): JournalLine => ({
    kind: "begun",
    run,
    strict: false,
    at: 0,
    states: [{ ...node, status: "waiting", attempt, starts }],
  });
  const states = (status: "running" | "failed" | "passed"): JournalLine => ({
    kind: "states",
    states: [{ ...node, status }],
  });

  it("tells what a sudden end cut off from what was asked for again, and counts the last run alone", () => {
    const first = [opened, begun(1, 1, 0), states("running"), states("passed")];
    const second = [begun(2, 1, 0), states("running"), opened, states("running"), states("failed")];
    const rerun = [begun(2, 2, 2), states("running"), states("passed")];
    expect(toRunHistory([...first, ...second, ...rerun])).toEqual({
      run: 2,
      starts: 1,
      settled: 0,
      commands: [{ node: "a", starts: 3, interrupted: 1, reruns: 1 }],
    });
  });

  it("sees a run that was started twice", () => {
    expect(toRunHistory([opened, begun(1, 1, 0), begun(1, 1, 0)])).toMatchObject({ run: 1, starts: 2 });
  });
});
