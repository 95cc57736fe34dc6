import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../../../src/from/agent/index.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { noteRejections, settle } from "../../surface/support.ts";
import { startAgent } from "./agent-support.ts";

const noted: Fault[] = [];
const onFault = (fault: Fault): void => void noted.push(fault);

afterEach(() => {
  noted.length = 0;
});

describe("a run of an agent that ends early", () => {
  it("fires its signal, returns the generator, waits for its finally, and sends no more steps", async () => {
    const told: string[] = [];
    let letGo = (): void => {};
    const source = agent({
      name: "long",
      async *run(_input, { signal, step }) {
        signal.addEventListener("abort", () => told.push("signal"));
        try {
          for (;;) {
            yield { kind: "turn" };
            await settle(1);
          }
        } finally {
          await new Promise<void>((resolve) => (letGo = resolve));
          step({ kind: "after the end" });
          told.push("finally");
        }
      },
    });
    const { call, reports, outcome, idle } = startAgent(source);
    await settle(10);
    const idled = idle().then(() => told.push("idle"));
    call.cancel();
    expect(await outcome).toMatchObject({ kind: "refused", code: "ABORTED" });
    const count = reports.length;
    expect(count).toBeGreaterThan(0);
    await settle(10);
    expect(told).toEqual(["signal"]);
    letGo();
    await idled;
    expect(told).toEqual(["signal", "finally", "idle"]);
    expect(reports).toHaveLength(count);
  });

  it("returns its generator while that awaits work that the signal ends, without a report", async () => {
    const told: string[] = [];
    const source = agent({
      name: "waits",
      onFault,
      async *run(_input, { signal }) {
        try {
          yield { kind: "waits" };
          await new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason), { once: true });
          });
        } finally {
          told.push("finally");
        }
        return 1;
      },
    });
    const run = startAgent(source);
    await settle();
    run.call.cancel();
    await run.idle();
    expect([told, noted, run.faults]).toEqual([["finally"], [], []]);
  });

  it("is returned when it has come out, where it is no asynchronous generator and ends its call itself", async () => {
    const told: string[] = [];
    const ended: { cancel?: () => void } = {};
    const steps = function* () {
      try {
        yield { kind: "one" };
        ended.cancel?.();
        told.push("goes on");
        yield { kind: "two" };
        told.push("too far");
      } finally {
        told.push("finally");
      }
    };
    // Who casts may hand over one that is not asynchronous.
    const source = agent({ name: "plain", onFault, run: () => steps() as unknown as Promise<string> });
    const run = startAgent(source);
    ended.cancel = () => run.call.cancel();
    expect(await run.outcome).toMatchObject({ kind: "refused", code: "ABORTED" });
    await run.idle();
    expect([told, noted]).toEqual([["goes on", "finally"], []]);
  });

  it("ends at its deadline, also where it never waits for anything", async () => {
    let hasEnded = false;
    const source = agent({
      name: "busy",
      timeoutMs: 50,
      async *run() {
        try {
          for (;;) yield { kind: "turn" };
        } finally {
          hasEnded = true;
        }
      },
    });
    const run = startAgent(source);
    expect(await run.outcome).toMatchObject({ kind: "refused", code: "TIMEOUT" });
    await run.idle();
    expect(hasEnded).toBe(true);
    expect(run.call.meta).toEqual({ "surface-mcp/runId": expect.any(String) });
  });

  it("reports an error that its finally throws", async () => {
    const rejections = noteRejections();
    const source = agent({
      name: "torn",
      onFault,
      async *run() {
        try {
          for (;;) {
            yield { kind: "turn" };
            await settle(1);
          }
        } finally {
          // oxlint-disable-next-line no-unsafe-finally -- what authors may do
          throw new Error("mine");
        }
      },
    });
    const run = startAgent(source);
    await settle();
    run.call.cancel();
    await run.idle();
    expect(noted).toMatchObject([{ where: 'ending agent "torn"', cause: { message: "mine" } }]);
    expect(rejections.end()).toEqual([]);
  });

  it("runs a finally that yields to its end, and sends none of it", async () => {
    let hasEnded = false;
    const source = agent({
      name: "late",
      async *run() {
        try {
          for (;;) {
            yield { kind: "turn" };
            await settle(1);
          }
        } finally {
          yield { kind: "late" };
          yield { kind: "later" };
          hasEnded = true;
        }
      },
    });
    const run = startAgent(source);
    await settle();
    run.call.cancel();
    await run.idle();
    expect([hasEnded, run.reports.some(({ message }) => message !== "turn")]).toEqual([true, false]);
  });

  it("is abandoned when its generator yields forever after its end", async () => {
    const source = agent({
      name: "stubborn",
      async *run() {
        for (;;) {
          try {
            for (;;) {
              yield { kind: "turn" };
              await settle(1);
            }
          } finally {
            // oxlint-disable-next-line no-unsafe-finally -- what authors may do
            continue;
          }
        }
      },
    });
    const run = startAgent(source);
    await settle();
    run.call.cancel();
    await run.idle();
    expect(await run.outcome).toMatchObject({ code: "ABORTED" });
  });
});
