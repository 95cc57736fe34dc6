import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CallContext } from "../../src/call/call-context.ts";
import { Deadlines } from "../../src/call/deadlines.ts";

function timersOfProcess(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

describe("Deadlines on a clock of the test", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("watch() aborts a call when its time is up and not before", () => {
    const call = new CallContext();
    new Deadlines().watch(call, { timeoutMs: 50 });
    vi.advanceTimersByTime(49);
    expect(call.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(call.signal.reason).toMatchObject({
      code: "TIMEOUT",
      message: "Cannot finish a call: no answer within 50 ms",
    });
  });

  it("watch() keeps one timer for all calls of one length", () => {
    const deadlines = new Deadlines();
    for (let index = 0; index < 1000; index += 1) deadlines.watch(new CallContext(), { timeoutMs: 50 });
    expect(vi.getTimerCount()).toBe(1);
    deadlines.watch(new CallContext(), { timeoutMs: 60 });
    expect(vi.getTimerCount()).toBe(2);
  });

  it("watch() aborts in the order in which calls began, each in its own time", () => {
    const deadlines = new Deadlines();
    const fired: string[] = [];
    const start = (name: string, timeoutMs: number): void => {
      const call = new CallContext();
      call.signal.addEventListener("abort", () => fired.push(`${name}@${performance.now() - begun}`));
      deadlines.watch(call, { timeoutMs });
    };
    const begun = performance.now();
    start("slow", 100);
    start("fast", 20);
    vi.advanceTimersByTime(10);
    start("fast2", 20);
    start("slow2", 100);
    vi.advanceTimersByTime(200);
    expect(fired).toEqual(["fast@20", "fast2@30", "slow@100", "slow2@110"]);
  });

  it("watch() skips a call that was removed, and still fires for those behind it", () => {
    const deadlines = new Deadlines();
    const [first, second] = [new CallContext(), new CallContext()];
    deadlines.watch(first, { timeoutMs: 50 });
    vi.advanceTimersByTime(10);
    deadlines.watch(second, { timeoutMs: 50 });
    first.unwatch?.();
    vi.advanceTimersByTime(49);
    expect([first.signal.aborted, second.signal.aborted]).toEqual([false, false]);
    vi.advanceTimersByTime(1);
    expect([first.signal.aborted, second.signal.aborted]).toEqual([false, true]);
  });

  it("watch() clears its timer when every call was removed, and arms it again for the next", () => {
    const deadlines = new Deadlines();
    const forgotten = new CallContext();
    deadlines.watch(forgotten, { timeoutMs: 50 });
    forgotten.unwatch?.();
    vi.advanceTimersByTime(50);
    expect(vi.getTimerCount()).toBe(0);
    const call = new CallContext();
    deadlines.watch(call, { timeoutMs: 50 });
    vi.advanceTimersByTime(50);
    expect(call.signal.aborted).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("close() clears the timers and aborts no call", () => {
    const deadlines = new Deadlines();
    const call = new CallContext();
    deadlines.watch(call, { timeoutMs: 50 });
    deadlines.watch(new CallContext(), { timeoutMs: 70 });
    deadlines.close();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(1000);
    expect(call.signal.aborted).toBe(false);
  });
});

describe("Deadlines on the real clock", () => {
  it("watch() does not keep the process alive", () => {
    const before = timersOfProcess();
    const deadlines = new Deadlines();
    deadlines.watch(new CallContext(), { timeoutMs: 60_000 });
    expect(timersOfProcess()).toBe(before);
    deadlines.close();
  });
});
