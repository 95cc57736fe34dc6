import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Throttle } from "../../src/spine/throttle.ts";
import { SimClock } from "../sim/sim-clock.ts";

const windowMs = 100;

function create(): { clock: SimClock; throttle: Throttle; fired: number[] } {
  const clock = new SimClock();
  const fired: number[] = [];
  const fire = (): void => void fired.push(clock.elapsed);
  return { clock, throttle: new Throttle({ clock: clock.lane("watch"), windowMs, fire }), fired };
}

/** Fires what is due, each timer up to a millisecond early where it says so, until the time given. */
function passUntil(clock: SimClock, until: number, earlyMs: number): void {
  for (let next = clock.next(); next !== undefined && next.due - earlyMs <= until; next = clock.next()) {
    clock.elapsed = Math.max(clock.elapsed, next.due - earlyMs);
    clock.fire(next);
  }
  clock.elapsed = Math.max(clock.elapsed, until);
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

  it("keeps its distance, is never quiet about the last change, and is quick after quiet when touched at random", () => {
    const gaps = fc.array(fc.record({ gap: fc.nat(250), early: fc.boolean() }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(gaps, (steps) => {
        const { throttle, fired, clock } = create();
        let touched = 0;
        for (const { gap, early } of steps) {
          // Early by a fraction whose sums are exact.
          passUntil(clock, clock.elapsed + gap, early ? 0.875 : 0);
          const before = fired.at(-1) ?? Number.NEGATIVE_INFINITY;
          const isPending = clock.timers.length > 0;
          throttle.touch();
          touched = clock.elapsed;
          const isQuiet = !isPending && touched - before >= windowMs;
          expect(fired.at(-1) === touched || !isQuiet).toBe(true);
          expect(clock.timers.length).toBeLessThanOrEqual(1);
        }
        passUntil(clock, clock.elapsed + 3 * windowMs, 0);
        expect(fired.at(-1)).toBeGreaterThanOrEqual(touched);
        expect(fired.at(-1)).toBeLessThanOrEqual(touched + windowMs + 1);
        for (const [at, time] of fired.entries())
          expect(time - (fired[at - 1] ?? -windowMs)).toBeGreaterThanOrEqual(windowMs);
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

  it("dispose() forgets what is pending, and a touch after it keeps its distance, when called twice", () => {
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
