import { describe, expect, it } from "vitest";
import { Listeners } from "../../src/surface/listeners.ts";

const never = (cause: unknown): void => {
  throw cause;
};

describe("Listeners", () => {
  it("calls one function twice when it was added twice, and once when one of the two is removed", () => {
    const heard: string[] = [];
    const listeners = new Listeners<string>();
    const listener = (told: string): void => void heard.push(told);
    const stop = listeners.add(listener);
    listeners.add(listener);
    listeners.tell("a", never);
    stop();
    stop();
    listeners.tell("b", never);
    expect(heard).toEqual(["a", "a", "b"]);
    expect(listeners.size).toBe(1);
  });

  it("does not call a listener that an earlier one removed, nor one that was added meanwhile", () => {
    const heard: string[] = [];
    const listeners = new Listeners();
    listeners.add(() => {
      stop();
      listeners.add(() => heard.push("new"));
    });
    const stop = listeners.add(() => heard.push("stopped"));
    listeners.tell(undefined, never);
    expect(heard).toEqual([]);
  });

  it("calls the others, and reports the faults, when one throws and one rejects", async () => {
    const faults: unknown[] = [];
    const heard: string[] = [];
    const listeners = new Listeners();
    listeners.add(() => {
      throw new Error("thrown");
    });
    listeners.add(async () => {
      throw new Error("rejected");
    });
    listeners.add(() => heard.push("told"));
    listeners.tell(undefined, (cause) => faults.push(cause));
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(["told"]);
    expect(faults.map(String)).toEqual(["Error: thrown", "Error: rejected"]);
  });
});
