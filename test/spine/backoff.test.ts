import { describe, expect, it } from "vitest";
import { Backoff } from "../../src/spine/backoff.ts";
import { SimClock } from "../sim/sim-clock.ts";

function create(random: () => number): { backoff: Backoff; clock: SimClock } {
  const clock = new SimClock();
  const lane = clock.lane("holder");
  return { backoff: new Backoff({ clock: lane, random, baseMs: 25, capMs: 1000, stableMs: 5000 }), clock };
}

describe("Backoff", () => {
  it("next() doubles up to the cap and stays there when attempt after attempt fails", () => {
    const { backoff } = create(() => 0);
    expect(Array.from({ length: 8 }, () => backoff.next())).toEqual([25, 50, 100, 200, 400, 800, 1000, 1000]);
  });

  it("next() is shortened by less than a half when chance says so", () => {
    const { backoff } = create(() => 0.999_999);
    const delays = Array.from({ length: 9 }, () => backoff.next());
    expect(delays.map((delay) => Math.ceil(delay))).toEqual([13, 26, 51, 101, 201, 401, 501, 501, 501]);
  });

  it("next() starts again from the base after a lasting connection", () => {
    const { backoff, clock } = create(() => 0);
    for (let count = 0; count < 5; count += 1) backoff.next();
    backoff.up();
    clock.elapsed += 4999;
    expect(backoff.next()).toBe(800);
    backoff.up();
    clock.elapsed += 5000;
    expect(backoff.next()).toBe(25);
  });

  it("next() goes on growing when time passes without anything being reached", () => {
    const { backoff, clock } = create(() => 0);
    backoff.next();
    clock.elapsed += 3_600_000;
    expect(backoff.next()).toBe(50);
  });

  it("next() stays finite when thousands of attempts fail", () => {
    const { backoff } = create(() => 0);
    for (let count = 0; count < 5000; count += 1) backoff.next();
    expect(backoff.next()).toBe(1000);
  });
});
