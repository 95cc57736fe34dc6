import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../src/errors.ts";
import { followAbort, followSignal, LinkedAbort, untilAborted } from "../../src/spine/signals.ts";

function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}

describe("LinkedAbort", () => {
  it("signal fires with the reason of the first source, and removes the listeners from the others", () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const linked = new LinkedAbort(one.signal, undefined, two.signal);
    two.abort("because");
    expect(linked.signal.reason).toBe("because");
    expect([listeners(one.signal), listeners(two.signal)]).toEqual([0, 0]);
    one.abort("too late");
    expect(linked.signal.reason).toBe("because");
  });

  it("signal has fired at once when a source had, and follows no other", () => {
    const live = new AbortController();
    const linked = new LinkedAbort(AbortSignal.abort("before"), live.signal);
    expect(linked.signal.reason).toBe("before");
    expect(listeners(live.signal)).toBe(0);
  });

  it("dispose() removes the listeners without firing, also when called twice", () => {
    const source = new AbortController();
    const linked = new LinkedAbort(source.signal);
    linked.dispose();
    linked.dispose();
    source.abort();
    expect(linked.signal.aborted).toBe(false);
    linked.abort("by hand");
    expect(linked.signal.reason).toBe("by hand");
  });

  it("a signal has one listener for ten thousand followers, and none when all have left", () => {
    const source = new AbortController();
    const all = Array.from({ length: 10_000 }, () => new LinkedAbort(source.signal));
    expect(listeners(source.signal)).toBe(1);
    for (const linked of all.slice(1)) linked.dispose();
    expect(listeners(source.signal)).toBe(1);
    all[0]?.dispose();
    expect(listeners(source.signal)).toBe(0);
    const again = new LinkedAbort(source.signal);
    source.abort();
    expect(again.signal.aborted).toBe(true);
  });
});

describe("followSignal()", () => {
  it("followSignal() calls back at once when the signal has fired", () => {
    let told = 0;
    followSignal(AbortSignal.abort(), () => void (told += 1))();
    expect(told).toBe(1);
  });

  it("followSignal() does not call a follower that another follower's callback removed", () => {
    const source = new AbortController();
    const told: string[] = [];
    followSignal(source.signal, () => {
      told.push("first");
      leave();
    });
    const leave = followSignal(source.signal, () => void told.push("second"));
    source.abort();
    expect(told).toEqual(["first"]);
    leave();
  });

  it("followSignal() calls one function twice when it follows twice", () => {
    const source = new AbortController();
    let told = 0;
    const tell = (): void => void (told += 1);
    followSignal(source.signal, tell);
    const leave = followSignal(source.signal, tell);
    followSignal(source.signal, tell);
    leave();
    leave();
    source.abort();
    expect(told).toBe(2);
  });
});

describe("followAbort()", () => {
  it("followAbort() passes the reason of the signal when it fires, and leaves no listener when it is stopped", () => {
    const controller = new AbortController();
    const { signal } = controller;
    const reasons: unknown[] = [];
    followAbort({ signal }, (reason) => reasons.push(reason));
    const stop = followAbort({ signal }, () => reasons.push("stopped"));
    stop();
    controller.abort("because");
    followAbort({ signal }, (reason) => reasons.push(reason));
    expect(reasons).toEqual(["because", "because"]);
    expect(listeners(signal)).toBe(0);
  });

  it("followAbort() does not read the signal when the operation calls back without one", () => {
    const reasons: unknown[] = [];
    let isStopped = false;
    const by = {
      get signal(): AbortSignal {
        throw new Error("it was read");
      },
      whenAborted: (callback: (reason: unknown) => void) => {
        callback("at once");
        return () => void (isStopped = true);
      },
    };
    followAbort(by, (reason) => reasons.push(reason))();
    expect([reasons, isStopped]).toEqual([["at once"], true]);
  });

  it("followAbort() calls nothing when the operation cannot be cancelled", () => {
    expect(followAbort({}, () => expect.unreachable())()).toBeUndefined();
  });
});

const doing = "Calling it";

describe("untilAborted()", () => {
  it("untilAborted() settles as the work does when the signal stays silent, and keeps no listener", async () => {
    const { signal } = new AbortController();
    await expect(untilAborted({ start: async () => 1, signal, doing })).resolves.toBe(1);
    const failing = untilAborted({ start: () => Promise.reject(new Error("no")), signal, doing });
    await expect(failing).rejects.toThrow("no");
    const throwing = untilAborted({
      start: () => {
        throw new Error("at once");
      },
      signal,
      doing,
    });
    await expect(throwing).rejects.toThrow("at once");
    await new Promise((resolve) => setImmediate(resolve));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("untilAborted() rejects at once when the signal fires, and drops the result of the work", async () => {
    const controller = new AbortController();
    let fail = (_cause: Error): void => {};
    const start = (): Promise<never> => new Promise((_resolve, reject) => (fail = reject));
    const work = untilAborted({ start, signal: controller.signal, doing });
    controller.abort();
    await expect(work).rejects.toMatchObject({ code: "ABORTED", message: "Calling it: the caller cancelled" });
    fail(new Error("late"));
  });

  it("untilAborted() does not start the work when the signal has fired", async () => {
    let started = false;
    const start = async (): Promise<void> => void (started = true);
    const reason = new SurfaceError("TIMEOUT", "Calling: too late");
    await expect(untilAborted({ start, signal: AbortSignal.abort(reason), doing })).rejects.toBe(reason);
    expect(started).toBe(false);
  });
});
