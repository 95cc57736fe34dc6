import { describe, expect, it } from "vitest";
import { Serial } from "../../src/spine/serial.ts";

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("Serial", () => {
  it("run() keeps the order and runs one at a time when steps are slow, fast and failing", async () => {
    const serial = new Serial();
    const seen: string[] = [];
    let under = 0;
    const step = (name: string, fails: boolean) => async (): Promise<string> => {
      under += 1;
      seen.push(`${name}${under}`);
      await tick();
      under -= 1;
      if (fails) throw new Error(name);
      return name;
    };
    const all = await Promise.allSettled(
      ["a", "b", "c", "d"].map((name, index) => serial.run(step(name, index === 1))),
    );
    expect(seen).toEqual(["a1", "b1", "c1", "d1"]);
    expect(all.map((one) => one.status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    await expect(serial.run(step("e", false))).resolves.toBe("e");
  });

  it("run() starts a step at once when none is under way", async () => {
    const serial = new Serial();
    await serial.run(async () => {});
    await tick();
    let started = false;
    const running = serial.run(async () => void (started = true));
    expect(started).toBe(true);
    await running;
  });
});
