import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Throttle } from "../../src/spine/throttle.ts";
import { SimClock } from "../sim/sim-clock.ts";

const windowMs = 100;

function create(burst = 1): { clock: SimClock; throttle: Throttle; fired: number[] } {
  const clock = new SimClock();
  const fired: number[] = [];
  const fire = (): void => void fired.push(clock.elapsed);
  return { clock, throttle: new Throttle({ clock: clock.lane("watch"), windowMs, burst, fire }), fired };
}

/** Fires what is due, each timer up to a millisecond early where it says so, until the time given. */
function passUntil(clock: SimClock, until: number, earlyMs: number): void {
  for (let next = clock.next(); next !== undefined && next.due - earlyMs <= until; next = clock.next()) {
    clock.elapsed = Math.max(clock.elapsed, next.due - earlyMs);
    clock.fire(next);
  }
  clock.elapsed = Math.max(clock.elapsed, until);
}

/** Whether one more may be fired: for all times before, no more than the burst and one for each window since. */
function canFire(fired: readonly number[], burst: number, now: number): boolean {
  return fired.every((time, at) => fired.length + 1 - at <= burst + (now - time) / windowMs);
}

describe("Throttle", () => {
  it("touch() fires at once when it was quiet", () => {
    const { throttle, fired, clock } = create();
    throttle.touch();
    expect(fired).toEqual([0]);
    passUntil(clock, 250, 0);
    throttle.touch();
    expect(fired).toEqual([0, 250]);
  });

  it("touch() fires once more when the window ends, however often it was touched", () => {
    const { throttle, fired, clock } = create();
    for (let count = 0; count < 10; count += 1) throttle.touch();
    expect(clock.timers).toHaveLength(1);
    passUntil(clock, 500, 0);
    expect(fired).toEqual([0, 100]);
    expect(clock.timers).toHaveLength(0);
  });

  it("touch() fires four times at once after rest, then once a window, and once after the last touch", () => {
    const { throttle, fired, clock } = create(4);
    for (let count = 0; count < 250; count += 10) {
      throttle.touch();
      passUntil(clock, count + 10, 0);
    }
    passUntil(clock, 1000, 0);
    expect(fired).toEqual([0, 10, 20, 30, 100, 200, 300]);
    expect(clock.timers).toHaveLength(0);
  });

  it("touch() fires at once for each window of rest, and no more often than four times", () => {
    const { throttle, fired, clock } = create(4);
    const touch = (count: number): void => {
      for (let left = count; left > 0; left -= 1) throttle.touch();
      throttle.dispose();
    };
    touch(9);
    passUntil(clock, 250, 0);
    touch(9);
    passUntil(clock, 2000, 0);
    touch(9);
    expect(fired).toEqual([0, 0, 0, 0, 250, 250, 2000, 2000, 2000, 2000]);
  });

  it("keeps its distance, is never quiet about the last change, and is quick after quiet when touched at random", () => {
    const gaps = fc.array(fc.record({ gap: fc.nat(250), early: fc.boolean() }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(gaps, fc.constantFrom(1, 4), (steps, burst) => {
        const { throttle, fired, clock } = create(burst);
        let touched = 0;
        for (const { gap, early } of steps) {
          // Early by a fraction whose sums are exact.
          passUntil(clock, clock.elapsed + gap, early ? 0.875 : 0);
          const isPending = clock.timers.length > 0;
          const isOwed = canFire(fired, burst, clock.elapsed);
          const before = fired.length;
          throttle.touch();
          touched = clock.elapsed;
          expect(fired.length - before).toBe(!isPending && isOwed ? 1 : 0);
          expect(clock.timers.length).toBeLessThanOrEqual(1);
        }
        passUntil(clock, clock.elapsed + 3 * windowMs, 0);
        expect(fired.at(-1)).toBeGreaterThanOrEqual(touched);
        expect(fired.at(-1)).toBeLessThanOrEqual(touched + windowMs + 1);
        for (const [at, time] of fired.entries()) expect(canFire(fired.slice(0, at), burst, time)).toBe(true);
        expect(clock.timers).toHaveLength(0);
      }),
    );
  });

  it("fires within a window when the clock is set back while a change is pending", () => {
    const { throttle, fired, clock } = create();
    throttle.touch();
    passUntil(clock, 10, 0);
    throttle.touch();
    clock.jump(-3_600_000);
    passUntil(clock, 400, 0);
    expect(fired).toHaveLength(2);
    expect(clock.timers).toHaveLength(0);
  });

  it("dispose() drops a pending change, also when called twice, and a later touch keeps its distance", () => {
    const { throttle, fired, clock } = create();
    throttle.touch();
    throttle.touch();
    throttle.dispose();
    throttle.dispose();
    expect(clock.timers).toHaveLength(0);
    passUntil(clock, 50, 0);
    throttle.touch();
    passUntil(clock, 300, 0);
    expect(fired).toEqual([0, 100]);
  });

  it("a touch from within fire() is announced when the window ends", () => {
    const clock = new SimClock();
    let count = 0;
    const throttle = new Throttle({
      clock: clock.lane("watch"),
      windowMs,
      fire: () => {
        count += 1;
        if (count < 3) throttle.touch();
      },
    });
    throttle.touch();
    expect(count).toBe(1);
    passUntil(clock, 250, 0);
    expect(count).toBe(3);
  });
});
